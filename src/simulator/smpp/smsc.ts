import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { acceptMessage, answerLater, type CarrierParts, decide } from '../carrier.ts';
import type { JournalEntry } from '../journal.ts';
import { listen } from '../listen.ts';
import type { Reporter } from '../reporter.ts';
import { type Outcome, scenarioOf } from '../scenario.ts';
import { type AssembledMessage, createAssembly, partMessage } from './assembly.ts';
import { commandStatus, encodePdu } from './pdu.ts';
import { encodeReceipt, isReceiptWanted } from './receipt.ts';
import { type Account, createSession, type OnSubmit, type Session } from './session.ts';
import { readSubmit } from './submit.ts';

const PROVIDER = 'smpp';
const CONNECTIONS_MAX = 64;

// A carrier keeps receipts for days until somebody binds; these are the first tries.
const RETRY_DELAYS_MS = [1_000, 5_000, 25_000];

const credentials = { systemId: 'heliograph', password: 'k7Wq2nZd' } satisfies Account;

/** The demo account of the SMSC: what a bind must carry. */
export const smppCredentials: Readonly<typeof credentials> = credentials;

export type Smsc = {
  /** Returns the port. */
  listen(port: number, host: string): Promise<number>;
  /** Forgets parts of messages whose others are missing. */
  clear(): void;
  stop(): Promise<void>;
};

/** A carrier's SMPP 3.4 message centre. */
export function createSmsc(parts: CarrierParts): Smsc {
  const { clock, journal, faults } = parts;
  const assembly = createAssembly(clock);
  const sessions = new Set<Session>();
  const reporter = createReceiptReporter(sessions);

  const submit: OnSubmit = (pdu, answer) => {
    const reading = readSubmit(pdu.body);
    const raw = encodePdu(pdu.commandId, pdu.status, pdu.sequence, [pdu.body]).toString('hex');
    if ('refusedWith' in reading) {
      const to = reading.destination === undefined ? undefined : `+${reading.destination}`;
      record({ to, outcome: 'invalid', submission: undefined, message: undefined, request: { pdus: [raw] } });
      answerLater(parts, PROVIDER, () => answer(reading.refusedWith));
      return;
    }
    const message = assembly.place(reading.part, raw);
    const isNew = message.outcome === undefined;
    message.outcome ??= faults.strikes(PROVIDER) ? 'unavailable' : decide(parts, PROVIDER, message.submission);
    if (message.outcome === 'accepted') {
      accept(message, isNew, answer);
      return;
    }
    const { submission, outcome, pdus } = message;
    if (isNew) record({ to: submission.to, outcome, submission, message: undefined, request: { pdus } });
    if (outcome !== 'silent') answerLater(parts, PROVIDER, () => answer(statuses[outcome]));
  };

  function accept(message: AssembledMessage, isNew: boolean, answer: Parameters<OnSubmit>[1]): void {
    const { submission, pdus } = message;
    const id = randomUUID().replaceAll('-', '');
    const part = partMessage(message, id, { scenario: scenarioOf(submission.to), acceptedAt: clock.now() });
    if (isNew) record({ to: submission.to, outcome: 'accepted', submission, message: part, request: { pdus } });
    acceptMessage(parts, part, reporter, () => answer(commandStatus.ok, id));
  }

  function record(entry: Omit<JournalEntry, 'provider' | 'receivedAt'>): void {
    journal.add({ provider: PROVIDER, receivedAt: clock.now(), ...entry });
  }

  const server = createServer({ noDelay: true }, (socket) => {
    if (faults.get(PROVIDER).outage) {
      socket.destroy();
      return;
    }
    const session = createSession({ socket, account: credentials, onSubmit: submit });
    sessions.add(session);
    socket.on('close', () => sessions.delete(session));
  });
  server.maxConnections = CONNECTIONS_MAX;

  const dropAll = () => {
    for (const session of sessions) session.drop();
  };
  faults.watch(PROVIDER, ({ outage }) => {
    if (outage) dropAll();
  });

  return {
    listen: (port, host) => listen(server, port, host),
    clear: () => assembly.clear(),

    async stop() {
      const closed = once(server, 'close');
      server.close();
      dropAll();
      await closed;
    },
  };
}

const statuses: Record<Exclude<Outcome, 'accepted' | 'silent'>, number> = {
  invalid_recipient: commandStatus.invalidDestination,
  opted_out: commandStatus.permanentError,
  no_funds: commandStatus.outOfFunds,
  unavailable: commandStatus.systemError,
  throttled: commandStatus.throttled,
};

/** Receipts go to any session that receives, by turns. */
function createReceiptReporter(sessions: ReadonlySet<Session>): Reporter {
  let turn = 0;

  function nextReceiver(): Session | undefined {
    const receivers = [...sessions].filter((session) => session.canReceive());
    turn += 1;
    return receivers[turn % receivers.length];
  }

  return {
    addressFor: (message, status) => (isReceiptWanted(message, status) ? credentials.systemId : undefined),

    tell(message, report, done) {
      const receiver = nextReceiver();
      if (receiver === undefined) queueMicrotask(() => done('unreachable'));
      else receiver.deliver(encodeReceipt(message, report), done);
    },

    retryDelayMs: (attempt, result) => (result === commandStatus.ok ? undefined : RETRY_DELAYS_MS[attempt - 1]),
  };
}
