import { describeAdapter } from './contract.ts';
import { vonageCases } from './vonage-cases.ts';

describeAdapter(vonageCases);
