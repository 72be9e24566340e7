import type { Command } from 'commander';
import { withExamples } from '../examples.ts';
import { Failure } from '../failure.ts';
import { onePage } from '../pages.ts';
import type { OpenSession, Session } from '../session.ts';
import { showTime, type Column } from '../table.ts';

type Provider = {
  name: string;
  breaker: string;
  rate_per_second: number | null;
  concurrency: number;
  recent: {
    accepted: number;
    rejected: number;
    retryable: number;
    unknown: number;
    error_rate: number | null;
    latency_ms: number | null;
  };
  receipts_url: string | null;
};

type Unmatched = {
  provider: string;
  provider_message_id: string;
  reason: string;
  raw: string;
  received_at: string;
};

type Difference = { account_id: string; what: string; of: string | null; expected: number; found: number };
type Check = { accounts: number; differences: Difference[]; is_cut: boolean; next_cursor: string | null };

const providerColumns: ReadonlyArray<Column<Provider>> = [
  { title: 'PROVIDER', of: ({ name }) => name },
  { title: 'BREAKER', of: ({ breaker }) => breaker.replace('_', ' ') },
  { title: 'ACCEPTED', of: ({ recent }) => recent.accepted, align: 'right' },
  { title: 'REFUSED', of: ({ recent }) => recent.rejected, align: 'right' },
  { title: 'FAILED', of: ({ recent }) => recent.retryable, align: 'right' },
  { title: 'NO ANSWER', of: ({ recent }) => recent.unknown, align: 'right' },
  {
    title: 'ERRORS',
    of: ({ recent: { error_rate: rate } }) => (rate === null ? null : `${(rate * 100).toFixed(1)} %`),
    align: 'right',
  },
  { title: 'MEAN MS', of: ({ recent }) => recent.latency_ms, align: 'right' },
  { title: 'PER SECOND', of: ({ rate_per_second: rate }) => rate ?? 'no limit', align: 'right' },
  { title: 'AT ONCE', of: ({ concurrency }) => concurrency, align: 'right' },
];

const unmatchedColumns: ReadonlyArray<Column<Unmatched>> = [
  { title: 'RECEIVED (UTC)', of: ({ received_at: at }) => showTime(at) },
  { title: 'PROVIDER', of: ({ provider }) => provider },
  { title: "PROVIDER'S ID", of: ({ provider_message_id: id }) => id },
  { title: 'REASON', of: ({ reason }) => reason },
];

const differenceColumns: ReadonlyArray<Column<Difference>> = [
  { title: 'ACCOUNT', of: ({ account_id: accountId }) => accountId },
  { title: 'WHAT', of: ({ what }) => what.replaceAll('_', ' ') },
  { title: 'OF', of: ({ of }) => of },
  { title: 'EXPECTED', of: ({ expected }) => expected, align: 'right' },
  { title: 'FOUND', of: ({ found }) => found, align: 'right' },
];

/** One account with very many messages may take minutes. */
const checkTimeoutMs = 3_600_000;

/** `provider list`, `receipts unmatched` and `verify-ledger`. */
export function upkeepCommands(program: Command, open: OpenSession): void {
  const provider = program.command('provider').description('upstream providers: list');
  withExamples(
    provider.command('list').description('show how the providers have been doing in the last five minutes'),
    ['provider list', 'provider list --json'],
  ).action(async () => {
    const { operator, output } = open();
    const { data } = await operator.get<{ data: Provider[] }>('/providers');
    await output.list(onePage(data), providerColumns, 'No provider is configured.');
    if (output.isJson) return;
    for (const { name, receipts_url: url } of data) {
      if (url !== null) output.remark(`On the dashboard of ${name}, give this as the callback URL: ${url}`);
    }
  });

  const receipts = program.command('receipts').description('receipts of upstreams: unmatched');
  withExamples(receipts.command('unmatched').description('list receipts whose message is not known, newest first'), [
    'receipts unmatched',
    'receipts unmatched --limit all --json',
  ])
    .option('--limit <n>', 'how many, or all', '50')
    .action(async ({ limit }: { limit: string }) => {
      const empty = 'Every receipt has found its message.';
      await open().list('/receipts/unmatched', {}, { limit, columns: unmatchedColumns, empty });
    });

  withExamples(
    program
      .command('verify-ledger')
      .description('check that balances, charges and counts agree; exit code 1 where they do not'),
    ['verify-ledger', 'verify-ledger --json'],
  ).action(async () => verifyLedger(open()));
}

async function verifyLedger({ operator, output }: Session): Promise<void> {
  const { pagination } = await operator.request('GET', '/accounts', { query: { limit: 1 } });
  const total = pagination?.total ?? 0;
  const differences: Difference[] = [];
  let accounts = 0;
  let cursor: string | undefined;
  let isCut = false;
  do {
    const part: Check = await operator.get<Check>('/ledger/check', { cursor }, checkTimeoutMs);
    accounts += part.accounts;
    differences.push(...part.differences);
    isCut = part.is_cut;
    cursor = isCut ? undefined : (part.next_cursor ?? undefined);
    output.progress(`${accounts} of ${Math.max(total, accounts)} accounts checked, ${differences.length} differences`);
  } while (cursor !== undefined);
  if (output.isJson) output.result({ accounts, differences, is_cut: isCut }, () => '');
  else if (differences.length > 0) await output.list(onePage(differences), differenceColumns, '');
  if (differences.length > 0) {
    const more = isCut ? ' There are more; these come first.' : '';
    throw new Failure(`The books do not agree in ${differences.length} places.${more}`);
  }
  if (!output.isJson) output.result(accounts, () => `The books of ${accounts} accounts agree.`);
}
