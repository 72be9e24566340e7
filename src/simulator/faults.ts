/** What an operator of the simulator has imposed on one provider, on top of what the numbers choose. */
export type Faults = {
  /** Every request is answered 503. */
  readonly outage: boolean;
  /** Added before every answer. */
  readonly latencyMs: number;
  /** The share of requests answered 503, spread evenly: at 0.25 each fourth one, so that a test can count them. */
  readonly errorRate: number;
};

export type FaultBoard = {
  get(provider: string): Faults;
  set(provider: string, change: Partial<Faults>): Faults;
  /** Whether the request that just came is to be answered 503; called once for each. */
  strikes(provider: string): boolean;
  /** Calls back at each change of one provider's faults. */
  watch(provider: string, onChange: (faults: Faults) => void): void;
  clear(): void;
};

const none: Faults = { outage: false, latencyMs: 0, errorRate: 0 };

export function createFaultBoard(): FaultBoard {
  const imposed = new Map<string, Faults>();
  const errorsOwed = new Map<string, number>();
  const watchers = new Map<string, (faults: Faults) => void>();

  const get = (provider: string): Faults => imposed.get(provider) ?? none;

  return {
    get,

    set(provider, change) {
      const faults = { ...get(provider), ...change };
      imposed.set(provider, faults);
      errorsOwed.delete(provider);
      watchers.get(provider)?.(faults);
      return faults;
    },

    strikes(provider) {
      const { outage, errorRate } = get(provider);
      if (outage || errorRate === 0) return outage;
      const owed = (errorsOwed.get(provider) ?? 0) + errorRate;
      // Ten times 0.1 is a little less than one.
      const due = owed > 1 - 1e-9;
      errorsOwed.set(provider, due ? owed - 1 : owed);
      return due;
    },

    watch: (provider, onChange) => void watchers.set(provider, onChange),

    clear() {
      imposed.clear();
      errorsOwed.clear();
    },
  };
}
