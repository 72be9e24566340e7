import { describeAdapter } from './contract.ts';
import { twilioCases } from './twilio-cases.ts';

describeAdapter(twilioCases);
