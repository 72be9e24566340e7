import type { Command } from 'commander';
import type { Static } from 'typebox';
import type { DeliveryView } from '../../operator/story-schema.ts';
import type { endpointSchema } from '../../webhooks/schema.ts';
import { withExamples } from '../examples.ts';
import { misuse } from '../failure.ts';
import type { OpenSession, Session } from '../session.ts';
import { showTime, type Column } from '../table.ts';

type Endpoint = Static<typeof endpointSchema> & { account_id: string };
type Replay = { queued: number; next_cursor: string | null };

const endpointColumns: ReadonlyArray<Column<Endpoint>> = [
  { title: 'ENDPOINT', of: ({ id }) => id },
  { title: 'URL', of: ({ url }) => url },
  { title: 'STATE', of: ({ is_active: isActive }) => (isActive ? 'active' : 'disabled') },
  { title: 'FAILURES', of: ({ failure_count: failures }) => failures, align: 'right' },
  { title: 'LAST SUCCESS (UTC)', of: ({ last_success_at: at }) => showTime(at) },
  { title: 'LAST FAILURE (UTC)', of: ({ last_failure_at: at }) => showTime(at) },
  { title: 'ACCOUNT', of: ({ account_id: accountId }) => accountId },
];

const deliveryColumns: ReadonlyArray<Column<DeliveryView>> = [
  { title: 'EVENT', of: ({ event_id: id }) => id },
  { title: 'MESSAGE', of: ({ message_id: id }) => id },
  { title: 'STATUS', of: ({ status }) => status },
  { title: 'ATTEMPTS', of: ({ attempts }) => attempts.length, align: 'right' },
  { title: 'LAST ANSWER', of: ({ attempts }) => attempts.at(-1)?.status ?? attempts.at(-1)?.error },
  { title: 'LAST ATTEMPT (UTC)', of: ({ attempts }) => showTime(attempts.at(-1)?.at ?? null) },
  { title: 'NEXT (UTC)', of: ({ next_attempt_at: at }) => showTime(at) },
];

type ReplayOptions = { event?: string; from?: string; until?: string };

/** The operator goes through a hundred thousand events at once. */
const replayTimeoutMs = 10 * 60_000;

/** `webhook …`: endpoints of all accounts and what was delivered to them. */
export function webhookCommands(program: Command, open: OpenSession): void {
  const webhook = program.command('webhook').description('webhook endpoints: list, deliveries, replay, enable');

  withExamples(webhook.command('list').description('list the webhook endpoints of all accounts, newest first'), [
    'webhook list --disabled',
    'webhook list --account acc_01k…',
  ])
    .option('--account <account>', 'only those of this account')
    .option('--disabled', 'only those that failed too often and were disabled')
    .option('--limit <n>', 'how many, or all', '50')
    .action(async ({ limit, account, disabled }: { limit: string; account?: string; disabled?: true }) => {
      const query = { account, is_active: disabled === true ? false : undefined };
      const empty = 'There are no such endpoints.';
      await open().list('/webhooks', query, { limit, columns: endpointColumns, empty });
    });

  withExamples(
    webhook.command('deliveries').description('list what was delivered to an endpoint, newest event first'),
    ['webhook deliveries whe_01k…', 'webhook deliveries whe_01k… --status abandoned'],
  )
    .argument('<endpoint>', 'its id')
    .option('--status <status>', 'pending, succeeded, abandoned or skipped')
    .option('--limit <n>', 'how many, or all', '50')
    .action(async (endpoint: string, { limit, status }: { limit: string; status?: string }) => {
      const query = { endpoint, status };
      const empty = 'Nothing has been delivered to it so far.';
      await open().list('/deliveries', query, { limit, columns: deliveryColumns, empty });
    });

  withExamples(webhook.command('replay').description('deliver one event again, or all that an endpoint missed'), [
    'webhook replay whe_01k… --event evt_01k…',
    'webhook replay whe_01k… --from 2026-11-20T00:00:00Z --until 2026-11-20T06:00:00Z',
  ])
    .argument('<endpoint>', 'its id; it must be active')
    .option('--event <event>', 'one event: delivered again, acknowledged or not')
    .option('--from <time>', 'RFC 3339 time: all events from then on that it has not acknowledged')
    .option('--until <time>', 'RFC 3339 time (default: now)')
    .action(async (endpoint: string, options: ReplayOptions) => replay(open(), endpoint, options));

  withExamples(webhook.command('enable').description('make a disabled endpoint active again'), [
    'webhook enable whe_01k…',
  ])
    .argument('<endpoint>', 'its id')
    .action(async (id: string) => {
      const { operator, output } = open();
      const enabled = await operator.post<Endpoint>(`/webhooks/${encodeURIComponent(id)}/enable`);
      output.result(
        enabled,
        () => `${id} is active. Deliver what it missed: heliograph webhook replay ${id} --from <time>`,
      );
    });
}

async function replay({ operator, output }: Session, endpoint: string, options: ReplayOptions): Promise<void> {
  const { event, from, until } = options;
  if ((event === undefined) === (from === undefined)) throw misuse('Say what to replay: either --event or --from.');
  let queued = 0;
  let cursor: string | null = null;
  do {
    const place: object = cursor === null ? { event, from } : { cursor };
    const part: Replay = await operator.post<Replay>(
      '/deliveries/replay',
      { endpoint, until, ...place },
      replayTimeoutMs,
    );
    queued += part.queued;
    cursor = part.next_cursor;
    output.progress(`${queued} deliveries queued`);
  } while (cursor !== null);
  output.result({ endpoint_id: endpoint, queued }, () =>
    queued === 0
      ? 'Nothing to deliver: no event that this endpoint wants, or all of them are waiting or acknowledged already.'
      : `${queued} ${queued === 1 ? 'delivery' : 'deliveries'} queued.`,
  );
}
