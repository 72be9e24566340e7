import type { Clock } from '../lib/clock.ts';

const THREADS_MAX = 10_000;
const OPEN_MS = 30_000;
/** What the first part of a long message shows at least: 66 characters, less half of a pair that is not divided. */
const SHOWN_LENGTH = 64;

type Thread = { readonly first: string; owed: number; touchedAt: number };

/**
 * Which provider is the first one tried for a message. A provider cannot see the sender's message id, so a message is
 * known by its recipient and the start of its text, and the rule is:
 *
 * - The provider that sees a (recipient, text) while no thread is open for it is the first; its thread opens.
 * - Each further request by that provider is first again (a duplicate sent at the same time), and each one owes one
 *   message to the providers after it.
 * - A request by another provider pays one back; when none is owed the message is resolved and the thread closes, so
 *   the same text sent again later begins anew.
 * - A thread untouched for 30 s (the sender gave up) is closed.
 *
 * Texts to one number that begin alike through chains that begin differently, at the same time, cannot be told apart.
 */
export type Threads = {
  isFirstTried(provider: string, to: string, text: string): boolean;
  clear(): void;
};

export function createThreads(clock: Clock): Threads {
  const open = new Map<string, Thread>();

  return {
    isFirstTried(provider, to, text) {
      const key = `${to} ${text.slice(0, SHOWN_LENGTH)}`;
      const now = clock.now();
      const thread = open.get(key);

      if (thread === undefined || now - thread.touchedAt > OPEN_MS) {
        open.delete(key);
        if (open.size === THREADS_MAX) open.delete(oldestKey(open));
        open.set(key, { first: provider, owed: 1, touchedAt: now });
        return true;
      }

      thread.touchedAt = now;
      if (provider === thread.first) {
        thread.owed += 1;
        return true;
      }
      thread.owed -= 1;
      if (thread.owed === 0) open.delete(key);
      return false;
    },

    clear() {
      open.clear();
    },
  };
}

function oldestKey(open: Map<string, Thread>): string {
  for (const key of open.keys()) return key;
  return '';
}
