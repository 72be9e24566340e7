import type { CallbackResult } from '../upstream.ts';
import { commandIds, commandStatus, encodePdu, type Pdu } from './pdu.ts';

const ANSWER_MS_MAX = 15_000;
const SEQUENCE_MAX = 0x7fff_ffff;

type Done = (result: CallbackResult) => void;

export type Deliveries = {
  /** `done` gets the status that answers the deliver_sm. */
  send(body: readonly Buffer[], done: Done): void;
  settle(response: Pdu): void;
  /** The connection is gone, and so is every answer. */
  abandon(): void;
};

/** The deliver_sm of one session, until they are answered. */
export function createDeliveries(write: (pdu: Buffer) => void): Deliveries {
  const awaited = new Map<number, { done: Done; timer: NodeJS.Timeout }>();
  let lastSequence = 0;

  function finish(sequence: number, result: CallbackResult): void {
    const delivery = awaited.get(sequence);
    if (delivery === undefined) return;
    clearTimeout(delivery.timer);
    awaited.delete(sequence);
    delivery.done(result);
  }

  return {
    send(body, done) {
      lastSequence = lastSequence === SEQUENCE_MAX ? 1 : lastSequence + 1;
      const sequence = lastSequence;
      const timer = setTimeout(() => finish(sequence, 'timed_out'), ANSWER_MS_MAX).unref();
      awaited.set(sequence, { done, timer });
      write(encodePdu(commandIds.deliverSm, commandStatus.ok, sequence, body));
    },

    settle: ({ sequence, status }) => finish(sequence, status),

    abandon() {
      for (const sequence of awaited.keys()) finish(sequence, 'unreachable');
    },
  };
}
