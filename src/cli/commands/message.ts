import type { Command } from 'commander';
import type { Message } from '../../events/message-view.ts';
import type { Story } from '../../operator/story-schema.ts';
import { withExamples } from '../examples.ts';
import { misuse } from '../failure.ts';
import type { OpenSession } from '../session.ts';
import { describe, printable, showTime, type Column } from '../table.ts';

type OwnedMessage = Message & { account_id: string };

const columns: ReadonlyArray<Column<OwnedMessage>> = [
  { title: 'MESSAGE', of: ({ id }) => id },
  { title: 'TO', of: ({ to }) => to },
  { title: 'FROM', of: ({ from }) => from },
  { title: 'STATUS', of: ({ status }) => status },
  { title: 'ERROR', of: ({ error }) => error?.code },
  { title: 'PROVIDER', of: ({ provider }) => provider },
  { title: 'COST', of: ({ cost, currency }) => `${cost} ${currency}`, align: 'right' },
  { title: 'ACCOUNT', of: ({ account_id: accountId }) => accountId },
  { title: 'CREATED (UTC)', of: ({ created_at: at }) => showTime(at) },
];

/** `message …`: what became of messages. */
export function messageCommands(program: Command, open: OpenSession): void {
  const message = program.command('message').description('messages of all accounts: find, show');

  withExamples(message.command('find').description('find messages to a recipient, of an account, or both'), [
    'message find --to +14155550123',
    'message find --account acc_01k… --status failed --limit 200',
  ])
    .option('--to <number>', 'exactly this recipient')
    .option('--account <account>', 'only of this account')
    .option('--status <status>', 'pending, sent, delivered, failed or undelivered')
    .option('--limit <n>', 'how many, or all', '50')
    .action(async ({ limit, ...query }: { limit: string; to?: string; account?: string; status?: string }) => {
      if (query.to === undefined && query.account === undefined) {
        throw misuse('Say whose messages to find: --to, --account or both.');
      }
      await open().list('/messages', query, { limit, columns, empty: 'There are no such messages.' });
    });

  withExamples(message.command('show').description('tell the whole story of a message, from acceptance to webhooks'), [
    'message show msg_01k…',
    'message show msg_01k… --raw',
  ])
    .argument('<message>', 'its id')
    .option('--raw', "with the receipts as they came and the receivers' answers")
    .action(async (id: string, { raw }: { raw?: true }) => {
      const { operator, output } = open();
      const story = await operator.get<Story>(`/messages/${encodeURIComponent(id)}/story`);
      output.result(story, (told) => [...tellStory(told), ...(raw === true ? tellRaw(told) : [])]);
    });
}

function tellStory({ message, account_id: accountId, segments, in_dispatch: inDispatch, timeline }: Story): string[] {
  const startMs = Date.parse(message.created_at);
  const offsets = timeline.map(({ at }) => showOffset(Date.parse(at) - startMs));
  const width = Math.max(...offsets.map((offset) => offset.length));
  const kindWidth = Math.max(...timeline.map(({ kind }) => kind.length));
  return [
    ...describe([
      ['message', message.id],
      ['account', accountId],
      ['status', message.status],
      ['error', message.error === null ? null : `${message.error.code}: ${message.error.message}`],
      ['from', message.from],
      ['to', message.to],
      ['body', message.body],
      ['segments', segments],
      ['cost', `${message.cost} ${message.currency}`],
      ['provider', message.provider],
      ['reference', message.reference],
      ['created', `${showTime(message.created_at)} UTC`],
    ]),
    '',
    ...timeline.map(
      ({ kind, text }, index) =>
        `${(offsets[index] ?? '').padStart(width)}  ${kind.padEnd(kindWidth)}  ${printable(text)}`,
    ),
    ...(inDispatch === null
      ? []
      : ['', `It is being dispatched; if nothing happens by ${inDispatch.leased_until}, it is taken up again.`]),
  ];
}

/** Time since the message was accepted, at a glance. */
function showOffset(offsetMs: number): string {
  if (offsetMs < 1_000) return `+${offsetMs} ms`;
  if (offsetMs < 60_000) return `+${(offsetMs / 1_000).toFixed(2)} s`;
  if (offsetMs < 3_600_000) return `+${(offsetMs / 60_000).toFixed(1)} min`;
  return `+${(offsetMs / 3_600_000).toFixed(1)} h`;
}

function tellRaw({ receipts, events }: Story): string[] {
  const answers = events.flatMap(({ id, deliveries }) =>
    deliveries.flatMap(({ endpoint_id: endpointId, attempts }) =>
      attempts.map(({ at, status, answer }) => ({ id, endpointId, at, status, answer })),
    ),
  );
  return [
    ...receipts.flatMap(({ at, provider, raw }) => ['', `receipt of ${provider} at ${at}`, ...indent(raw)]),
    ...answers.flatMap(({ id, endpointId, at, status, answer }) => [
      '',
      `answer of ${endpointId} to ${id} at ${at}: ${status ?? 'none'}`,
      ...indent(answer ?? ''),
    ]),
  ];
}

function indent(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => `  ${printable(line)}`);
}
