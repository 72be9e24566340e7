/** How old the messages of an hour are when they are asked about: most receipts that come at all have come within the first hour. */
const agesHours = [1, 4, 12, 24, 48] as const;

/** No upstream is asked about older messages: carriers have given up on them, and some upstreams have forgotten them. */
const ageHoursMax = 72;

const hourMs = 3_600_000;

/** Messages created in this UTC hour are to be asked about for the `round`-th time, counted from 1. */
export type HourInRound = { hourMs: number; round: number };

/** The hours whose messages are all old enough to be asked about, and in which round they are; the newest first. */
export function hoursInRounds(nowMs: number): HourInRound[] {
  const hours: HourInRound[] = [];
  for (let startMs = startOfHour(nowMs) - hourMs; startMs >= nowMs - ageHoursMax * hourMs; startMs -= hourMs) {
    const ageOfYoungestMs = nowMs - (startMs + hourMs);
    const round = agesHours.filter((age) => age * hourMs <= ageOfYoungestMs).length;
    if (round > 0) hours.push({ hourMs: startMs, round });
  }
  return hours;
}

/** Nothing comes due between two of these. */
export function nextHourMs(nowMs: number): number {
  return startOfHour(nowMs) + hourMs;
}

function startOfHour(timeMs: number): number {
  return timeMs - (timeMs % hourMs);
}

/** How far each upstream that is still to be asked has come in a round: behind this message of its. Empty when all have been asked. */
export type Places = Readonly<Record<string, string>>;

/**
 * The places after some messages in the order of their ids: each upstream is behind the last of them, or before the first of its own that
 * could not be asked about; it is gone when none is left. `asked` goes with `messages`.
 */
export function advancePlaces(
  places: Places,
  messages: ReadonlyArray<{ id: string; provider: string }>,
  asked: readonly boolean[],
  isEnd: boolean,
): Places {
  const advanced: Record<string, string> = {};
  for (const [provider, place] of Object.entries(places)) {
    const missed = messages.findIndex((message, index) => message.provider === provider && asked[index] !== true);
    if (missed === -1 && isEnd) continue;
    const behind = missed === -1 ? messages.at(-1)?.id : messages[missed - 1]?.id;
    advanced[provider] = behind !== undefined && behind > place ? behind : place;
  }
  return advanced;
}
