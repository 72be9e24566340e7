import type { RecipientPrefix } from './load/plan.ts';

export type BenchOptions = {
  /** How often each case is measured; its figures are the medians. */
  runs: number;
  seconds: number;
  /** Prints where the service and the database spent their time. */
  profile: boolean;
  /** Messages the lists bench stores first. */
  messages: number;
};

/** One file, one bench. */
export type Bench = {
  name: string;
  /** One sentence: what its figures say. */
  measures: string;
  run(options: BenchOptions): Promise<void>;
};

/** How the figures name the numbers that are sent to. */
export const receiptsOf: Readonly<Record<RecipientPrefix, string>> = {
  '+1': 'receipts',
  '+99901010': 'no receipts',
};
