export type LaneLimits = {
  /** Items of one endpoint waiting in memory. */
  waitingPerLaneMax: number;
  /** Items of all endpoints waiting in memory. */
  waitingMax: number;
  /** Attempts at one endpoint at a time, once it has earned them. */
  runningPerLaneMax: number;
  /** Attempts at all endpoints at a time. */
  runningMax: number;
};

/** How an item's turn ended; `dropped` says nothing about its endpoint. */
export type TurnEnd = 'succeeded' | 'failed' | 'dropped';

type Lane<Item> = { key: string; waiting: Item[]; running: number; limit: number; isReady: boolean };

/** A lane starts with so many turns at a time: enough for a healthy endpoint to prove itself, too few for dead ones to take all. */
const firstLimit = 4;
/** Never fewer than two, so that one slow answer does not hold up the rest of a lane that fails. */
const lastLimit = 2;

/**
 * Whose turn it is. Each endpoint has a lane of its own; lanes take turns round robin, so a long one never delays a short one. How many
 * turns a lane may have at a time is earned: one more with every success, half as many with every failure. So endpoints that hang hold a
 * few of the turns there are, never most of them.
 */
export class Lanes<Item> {
  readonly #limits: LaneLimits;
  readonly #lanes = new Map<string, Lane<Item>>();
  readonly #ready: Array<Lane<Item>> = [];
  #waiting = 0;
  #running = 0;

  constructor(limits: LaneLimits) {
    this.#limits = limits;
  }

  get waiting(): number {
    return this.#waiting;
  }

  get running(): number {
    return this.#running;
  }

  /** How many more items of this endpoint would find a place. */
  room(key: string): number {
    const { waitingPerLaneMax, waitingMax } = this.#limits;
    const inLane = this.#lanes.get(key)?.waiting.length ?? 0;
    return Math.max(0, Math.min(waitingPerLaneMax - inLane, waitingMax - this.#waiting));
  }

  /** False when there is no room. */
  push(key: string, item: Item): boolean {
    if (this.room(key) === 0) return false;
    let lane = this.#lanes.get(key);
    if (lane === undefined) {
      lane = { key, waiting: [], running: 0, limit: firstLimit, isReady: false };
      this.#lanes.set(key, lane);
    }
    lane.waiting.push(item);
    this.#waiting += 1;
    this.#makeReady(lane);
    return true;
  }

  /** Takes the next item whose turn it is; its end must be told to `end`. */
  next(): { key: string; item: Item } | undefined {
    if (this.#running >= this.#limits.runningMax) return undefined;
    for (;;) {
      const lane = this.#ready.shift();
      if (lane === undefined) return undefined;
      lane.isReady = false;
      // Its limit may have shrunk since it got in line.
      if (lane.running >= lane.limit) continue;
      const item = lane.waiting.shift() as Item;
      this.#waiting -= 1;
      this.#running += 1;
      lane.running += 1;
      this.#makeReady(lane);
      return { key: lane.key, item };
    }
  }

  end(key: string, end: TurnEnd): void {
    const lane = this.#lanes.get(key);
    if (lane === undefined) throw new Error(`no turn of ${key} is running`);
    lane.running -= 1;
    this.#running -= 1;
    if (end === 'succeeded') lane.limit = Math.min(lane.limit + 1, this.#limits.runningPerLaneMax);
    if (end === 'failed') lane.limit = Math.max(lastLimit, lane.limit >> 1);
    this.#makeReady(lane);
    if (lane.waiting.length === 0 && lane.running === 0) this.#lanes.delete(key);
  }

  #makeReady(lane: Lane<Item>): void {
    if (lane.isReady || lane.waiting.length === 0 || lane.running >= lane.limit) return;
    lane.isReady = true;
    this.#ready.push(lane);
  }
}
