import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Message } from '../../events/message-view.ts';
import { systemClock } from '../../lib/clock.ts';
import { ServiceError, type Client } from '../client.ts';
import { withExamples } from '../examples.ts';
import { Failure, misuse } from '../failure.ts';
import type { OpenSession, Session } from '../session.ts';
import { describe } from '../table.ts';

type SendOptions = {
  from?: string;
  provider?: string;
  route?: number;
  reference?: string;
  wait: number;
};

const pollEveryMs = 250;

function readNumber(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw misuse(`"${text}" is not a whole number.`);
}

/** `send`: tries a message out, as an account would. */
export function sendCommand(program: Command, open: OpenSession): void {
  withExamples(
    program.command('send').description("send a message with an account's key, and wait for what becomes of it"),
    [
      'send +14155550123 "Hello from Heliograph"',
      'send +999010050001 "falls back to the second provider" --from HELIO --key ds_live_…',
    ],
  )
    .argument('<to>', 'recipient in E.164 form, such as +14155550123')
    .argument('<body>', 'the text')
    .option('--from <sender>', "an approved sender of the account (default: the quickstart's)")
    .option('--provider <name>', 'the provider to try first')
    .option('--route <id>', 'forces a route', readNumber)
    .option('--reference <text>', 'echoed on the message and in webhooks')
    .option('--wait <seconds>', 'how long to wait for the final state; 0 does not wait', readNumber, 30)
    .addHelpText('after', '\nExit code 1 means that the message failed or was not delivered.')
    .action(async (to: string, body: string, options: SendOptions) => send(open(), to, body, options));
}

async function send(
  { account, output, target }: Session,
  to: string,
  body: string,
  options: SendOptions,
): Promise<void> {
  const from = options.from ?? target.sender;
  if (from === undefined) throw misuse('Say what to send from, with --from: an approved sender of the account.');
  const { provider, route, reference } = options;
  const fields = { to, from, body, provider, route_id: route, reference };
  const sent = await account.post<Message>('/messages/send', fields).catch((error: unknown) => {
    throw withStory(error);
  });
  output.progress(`${sent.id} is ${sent.status}, waiting for a receipt`);
  const message = await waitForEnd(account, sent, options.wait, (status) => {
    output.progress(`${sent.id} is ${status}, waiting for a receipt`);
  });
  output.result(message, describeMessage);
  if (message.status === 'failed' || message.status === 'undelivered') {
    throw new Failure(`The message is ${message.status}. See how it went: heliograph message show ${message.id}`);
  }
  if (message.status !== 'delivered' && options.wait > 0) {
    output.remark(`No receipt within ${options.wait} s. Look again: heliograph message show ${message.id}`);
  }
}

/** A message that no provider accepted is stored all the same, and the error names it. */
function withStory(error: unknown): unknown {
  const id = error instanceof ServiceError ? error.details['message_id'] : undefined;
  if (!(error instanceof Error) || typeof id !== 'string') return error;
  return new Failure(`${error.message} See how it went: heliograph message show ${id}`);
}

/** The message once its state is final; undelivered counts, though a late proof may still change it. */
async function waitForEnd(
  account: Client,
  sent: Message,
  waitSeconds: number,
  onStatus: (status: string) => void,
): Promise<Message> {
  const endsAtMs = systemClock.now() + waitSeconds * 1_000;
  let message = sent;
  while ((message.status === 'pending' || message.status === 'sent') && systemClock.now() < endsAtMs) {
    await delay(pollEveryMs);
    message = await account.get<Message>(`/messages/${sent.id}`);
    onStatus(message.status);
  }
  return message;
}

function describeMessage(message: Message): string[] {
  const { error } = message;
  return describe([
    ['message', message.id],
    ['status', message.status],
    ...(error === null ? [] : [['error', `${error.code}: ${error.message}`] as const]),
    ['to', message.to],
    ['from', message.from],
    ['provider', message.provider],
    ['attempts', message.attempts],
    ['cost', `${message.cost} ${message.currency}`],
  ]);
}
