import type { Message } from './message.ts';
import type { Outcome } from './scenario.ts';
import type { Submission, WireRequest } from './upstream.ts';

/** An HTTP request, or the PDUs of an SMPP message, in hexadecimal. */
export type RawRequest = WireRequest | { readonly pdus: readonly string[] };

/** One request to send, and what became of it. */
export type JournalEntry = {
  readonly provider: string;
  readonly receivedAt: number;
  /** Unknown when the request was too malformed to name a recipient. */
  readonly to: string | undefined;
  readonly submission: Submission | undefined;
  readonly outcome: Outcome | 'invalid' | 'duplicate';
  readonly message: Message | undefined;
  /** Given up before the rest of the entry, being most of its size. */
  request: RawRequest | undefined;
};

export type JournalQuery = { readonly to: string | undefined; readonly limit: number };

/** `sequence` counts from 1 and is never used twice, so a reader sees where entries were given up. */
export type NumberedEntry = { readonly sequence: number; readonly entry: JournalEntry };

export type Journal = {
  add(entry: JournalEntry): void;
  find(provider: string, messageId: string): Message | undefined;
  /** The newest `limit` that match, in the order they came, and how many match in all. */
  list(query: JournalQuery): { entries: NumberedEntry[]; total: number };
  clear(): void;
};

export type JournalBounds = { readonly entriesMax: number; readonly requestsMax: number };

/** 100,000 entries measured 90 MB, 10,000 raw requests among them. */
export const defaultBounds: JournalBounds = { entriesMax: 100_000, requestsMax: 10_000 };

/** The last so many requests to send, in memory: a ring, so that old ones make room. */
export function createJournal({ entriesMax, requestsMax }: JournalBounds = defaultBounds): Journal {
  const messages = new Map<string, Message>();
  let ring: JournalEntry[] = [];
  let added = 0;

  return {
    add(entry) {
      const replaced = ring[added % entriesMax];
      if (replaced?.message !== undefined) messages.delete(replaced.message.id);
      ring[added % entriesMax] = entry;
      added += 1;

      const withoutRequest = added - requestsMax - 1;
      const aged = withoutRequest >= 0 ? ring[withoutRequest % entriesMax] : undefined;
      if (aged !== undefined) aged.request = undefined;

      if (entry.message !== undefined) messages.set(entry.message.id, entry.message);
    },

    find(provider, messageId) {
      const message = messages.get(messageId);
      return message?.provider === provider ? message : undefined;
    },

    list({ to, limit }) {
      const entries: NumberedEntry[] = [];
      let total = 0;
      for (let index = added - 1; index >= Math.max(0, added - entriesMax); index -= 1) {
        const entry = ring[index % entriesMax];
        if (entry === undefined || (to !== undefined && entry.to !== to)) continue;
        total += 1;
        if (entries.length < limit) entries.push({ sequence: index + 1, entry });
      }
      return { entries: entries.toReversed(), total };
    },

    clear() {
      ring = [];
      added = 0;
      messages.clear();
    },
  };
}
