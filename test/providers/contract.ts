import type { AdapterCases } from './cases.ts';
import { describeFaults } from './contract-faults.ts';
import { describeLookUps } from './contract-look-up.ts';
import { describeReceipts } from './contract-receipts.ts';
import { describeSending } from './contract-sending.ts';

/** The one suite every adapter passes. A new adapter is one file, one line in the registry and one `AdapterCases`. */
export function describeAdapter(cases: AdapterCases): void {
  describeSending(cases);
  describeFaults(cases);
  describeReceipts(cases);
  describeLookUps(cases);
}
