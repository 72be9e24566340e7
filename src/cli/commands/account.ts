import type { Command } from 'commander';
import type { Static } from 'typebox';
import type { accountSchema } from '../../accounts/schema.ts';
import { withExamples } from '../examples.ts';
import { misuse } from '../failure.ts';
import type { OpenSession } from '../session.ts';
import { describe, showTime, type Column } from '../table.ts';

type Account = Static<typeof accountSchema>;
type Transfer = { account_id: string; kind: string; amount: number; currency: string; balance: number };

const columns: ReadonlyArray<Column<Account>> = [
  { title: 'ACCOUNT', of: ({ id }) => id },
  { title: 'NAME', of: ({ name }) => name },
  { title: 'EMAIL', of: ({ email }) => email },
  { title: 'STATUS', of: ({ status }) => status },
  { title: 'BALANCE', of: ({ balance, currency }) => `${balance} ${currency}`, align: 'right' },
  { title: 'CREATED (UTC)', of: ({ created_at: at }) => showTime(at) },
];

function describeAccount(account: Account): string[] {
  return describe([
    ['account', account.id],
    ['name', account.name],
    ['email', account.email],
    ['company', account.company_name === '' ? null : account.company_name],
    ['country', account.country === '' ? null : account.country],
    ['status', account.status],
    ['KYC', account.kyc_verified ? 'verified' : 'not verified'],
    ['balance', `${account.balance} ${account.currency}`],
    ['created', `${showTime(account.created_at)} UTC`],
  ]);
}

type CreateOptions = {
  email: string;
  name: string;
  company?: string;
  country?: string;
  currency?: string;
  kycVerified?: true;
};

/** `account …`, `topup` and `adjust`. */
export function accountCommands(program: Command, open: OpenSession): void {
  const account = program.command('account').description('accounts: create, list, show, suspend, resume, close');

  withExamples(account.command('create').description('create an account; it is active and has no money yet'), [
    'account create --name "Ana Silva" --email ana@example.com --company Example --country PT --currency EUR',
  ])
    .requiredOption('--email <email>', 'address of whoever answers for the account')
    .requiredOption('--name <name>', 'name of whoever answers for it')
    .option('--company <name>', 'name of the company')
    .option('--country <code>', 'two letters, such as GB')
    .option('--currency <code>', 'three letters; cannot be changed later (default: USD)')
    .option('--kyc-verified', 'the identity behind the account was checked')
    .action(async ({ email, name, company, country, currency, kycVerified }: CreateOptions) => {
      const { operator, output } = open();
      const body = { email, name, company_name: company, country, currency, kyc_verified: kycVerified };
      output.result(await operator.post<Account>('/accounts', body), describeAccount);
    });

  withExamples(account.command('list').description('list accounts, newest first'), [
    'account list',
    'account list --status suspended',
    'account list --search ana --json',
  ])
    .option('--status <status>', 'active, suspended or closed')
    .option('--search <text>', 'a part of the name, the email or the company')
    .option('--limit <n>', 'how many, or all', '50')
    .action(async ({ limit, ...query }: { limit: string; status?: string; search?: string }) => {
      await open().list('/accounts', query, { limit, columns, empty: 'There are no such accounts.' });
    });

  withExamples(account.command('show').description('show an account'), ['account show acc_01k…'])
    .argument('<account>', 'its id')
    .action(async (id: string) => {
      const { operator, output } = open();
      output.result(await operator.get<Account>(`/accounts/${encodeURIComponent(id)}`), describeAccount);
    });

  const changes = {
    suspend: 'suspend an account: it reads, but does not send',
    resume: 'resume a suspended account',
    close: 'close an account for good: its keys are no longer accepted',
  };
  for (const [change, description] of Object.entries(changes)) {
    withExamples(account.command(change).description(description), [`account ${change} acc_01k…`])
      .argument('<account>', 'its id')
      .action(async (id: string) => {
        const { operator, output } = open();
        const changed = await operator.post<Account>(`/accounts/${encodeURIComponent(id)}/${change}`);
        output.result(changed, ({ status }) => `${id} is ${status}.`);
      });
  }

  moneyCommands(program, open);
}

type TransferOptions = { note?: string; idempotencyKey?: string };

const keyHelp = 'repeated with the same key within 24 hours, the money still moves once';

function moneyCommands(program: Command, open: OpenSession): void {
  const move = async (id: string, way: string, amount: string, options: TransferOptions): Promise<void> => {
    const { operator, output } = open();
    const { note, idempotencyKey } = options;
    const { data } = await operator.request<Transfer>('POST', `/accounts/${encodeURIComponent(id)}/${way}`, {
      body: { amount: readAmount(amount), note },
      idempotencyKey,
    });
    output.result(data, ({ balance, currency }) => `The balance of ${id} is now ${balance} ${currency}.`);
  };

  withExamples(program.command('topup').description('put money on an account'), [
    'topup acc_01k… 50',
    'topup acc_01k… 12.50 --note "invoice 2026-118" --idempotency-key invoice-2026-118',
  ])
    .argument('<account>', 'its id')
    .argument('<amount>', "in the account's currency, with at most 6 decimals")
    .option('--note <text>', 'for whoever reads the ledger')
    .option('--idempotency-key <key>', keyHelp)
    .action((id: string, amount: string, options: TransferOptions) => move(id, 'top-ups', amount, options));

  withExamples(program.command('adjust').description('correct a balance, up or down; it does not fall below zero'), [
    'adjust acc_01k… -3.20 --note "charged twice on 3 May"',
  ])
    .argument('<account>', 'its id')
    .argument('<amount>', 'what to add; negative to take off')
    .requiredOption('--note <text>', 'why, for whoever reads the ledger')
    .option('--idempotency-key <key>', keyHelp)
    .action((id: string, amount: string, options: TransferOptions) => move(id, 'adjustments', amount, options));
}

function readAmount(text: string): number {
  if (/^[+-]?\d+(\.\d{1,6})?$/.test(text)) return Number(text);
  throw misuse(`"${text}" is not an amount. Write it with digits and a point, such as 12.50, with at most 6 decimals.`);
}
