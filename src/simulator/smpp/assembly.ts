import type { Clock } from '../../lib/clock.ts';
import type { Message, ReceiptAttempt } from '../message.ts';
import type { Outcome } from '../scenario.ts';
import type { Submission } from '../upstream.ts';
import type { Part } from './submit.ts';

const INCOMPLETE_MAX = 1_000;
const INCOMPLETE_MS = 60_000;
const INTERNATIONAL = 1;

/** A message as its parts come in; what was decided on its first part holds for the others. */
export type AssembledMessage = {
  readonly submission: Submission & { text: string };
  readonly pdus: string[];
  /** Over all parts, in the order they were told. */
  readonly receipts: ReceiptAttempt[];
  outcome: Outcome | undefined;
};

export type Assembly = {
  /** The message that a part belongs to, with its text added. Without an outcome it is new. */
  place(part: Part, pdu: string): AssembledMessage;
  clear(): void;
};

type Incomplete = {
  readonly message: AssembledMessage;
  readonly texts: (string | undefined)[];
  readonly openedAt: number;
};

export function createAssembly(clock: Clock): Assembly {
  const incomplete = new Map<string, Incomplete>();

  function open(key: string, part: Part, total: number): Incomplete {
    const [oldest] = incomplete.keys();
    if (incomplete.size === INCOMPLETE_MAX && oldest !== undefined) incomplete.delete(oldest);
    const texts = Array.from<undefined>({ length: total });
    const opened = { message: newMessage(part), texts, openedAt: clock.now() };
    incomplete.set(key, opened);
    return opened;
  }

  return {
    place(part, pdu) {
      const { concatenation } = part;
      if (concatenation === undefined) {
        const message = newMessage(part);
        message.pdus.push(pdu);
        return message;
      }
      const { reference, total, sequence } = concatenation;
      const key = `${part.source.number} ${part.destination} ${reference} ${total}`;
      const known = incomplete.get(key);
      // A part that came already begins another message with the same reference: the one before was given up.
      const isStale = known?.texts[sequence - 1] !== undefined || clock.now() - (known?.openedAt ?? 0) > INCOMPLETE_MS;
      if (isStale) incomplete.delete(key);
      const { message, texts } = known === undefined || isStale ? open(key, part, total) : known;

      texts[sequence - 1] = part.text;
      message.submission.text = texts.join('');
      message.pdus.push(pdu);
      if (!texts.includes(undefined)) incomplete.delete(key);
      return message;
    },

    clear: () => incomplete.clear(),
  };
}

function newMessage({ source, destination, text, registeredDelivery, userReference }: Part): AssembledMessage {
  const submission = {
    to: `+${destination}`,
    from: source.ton === INTERNATIONAL ? `+${source.number}` : source.number,
    text,
    callbackUrl: undefined,
    reference: userReference === undefined ? undefined : String(userReference),
    details: {
      registeredDelivery: String(registeredDelivery),
      sourceTon: String(source.ton),
      sourceNpi: String(source.npi),
    },
  };
  return { submission, pdus: [], receipts: [], outcome: undefined };
}

/** One part of an accepted message, with an id and receipts of its own, as the carrier counts. */
export function partMessage(
  message: AssembledMessage,
  id: string,
  fields: Pick<Message, 'scenario' | 'acceptedAt'>,
): Message {
  return { id, provider: 'smpp', submission: message.submission, receipts: message.receipts, ...fields };
}
