import type { Clock } from '../lib/clock.ts';
import type { ProviderName, SendResult } from '../providers/provider.ts';

type Result = SendResult['outcome'];

/** What came of the attempts at one provider in the last minutes. */
export type RecentAttempts = Record<Result, number> & { latencyMsMean: number | null };

const slotMs = 10_000;
const slotCount = 30;
/** How far back the counts go. */
export const recentWindowSeconds = (slotMs * slotCount) / 1_000;

type Slot = Record<Result, number> & { number: number; latencyMs: number };

function emptySlot(number: number): Slot {
  return { number, accepted: 0, rejected: 0, retryable: 0, unknown: 0, latencyMs: 0 };
}

/** Counts attempts by provider and result over the last five minutes, in this process: a ring of ten-second slots each. */
export class RecentAttemptCounts {
  readonly #clock: Clock;
  readonly #rings = new Map<ProviderName, Slot[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(provider: ProviderName, result: Result, latencyMs: number): void {
    const number = this.#slotNumber();
    const ring = this.#rings.get(provider) ?? [];
    this.#rings.set(provider, ring);
    let slot = ring[number % slotCount];
    if (slot?.number !== number) {
      slot = emptySlot(number);
      ring[number % slotCount] = slot;
    }
    slot[result] += 1;
    slot.latencyMs += latencyMs;
  }

  of(provider: ProviderName): RecentAttempts {
    const oldest = this.#slotNumber() - slotCount + 1;
    const slots = (this.#rings.get(provider) ?? []).filter((slot) => slot !== undefined && slot.number >= oldest);
    const sum = (read: (slot: Slot) => number): number => slots.reduce((total, slot) => total + read(slot), 0);
    const counts = {
      accepted: sum(({ accepted }) => accepted),
      rejected: sum(({ rejected }) => rejected),
      retryable: sum(({ retryable }) => retryable),
      unknown: sum(({ unknown }) => unknown),
    };
    const attempts = counts.accepted + counts.rejected + counts.retryable + counts.unknown;
    return { ...counts, latencyMsMean: attempts === 0 ? null : sum(({ latencyMs }) => latencyMs) / attempts };
  }

  #slotNumber(): number {
    return Math.floor(this.#clock.now() / slotMs);
  }
}
