import type { Command } from 'commander';
import type { Static } from 'typebox';
import type { createdKeySchema, keySchema } from '../../accounts/key-schema.ts';
import { withExamples } from '../examples.ts';
import { misuse } from '../failure.ts';
import { onePage } from '../pages.ts';
import type { OpenSession } from '../session.ts';
import { describe, showTime, type Column } from '../table.ts';

type Key = Static<typeof keySchema>;
type CreatedKey = Static<typeof createdKeySchema>;

const columns: ReadonlyArray<Column<Key>> = [
  { title: 'KEY', of: ({ id }) => id },
  { title: 'NAME', of: ({ name }) => name },
  { title: 'BEGINS AND ENDS', of: ({ key_hint: hint }) => hint },
  { title: 'ACTIVE', of: ({ is_active: isActive }) => (isActive ? 'yes' : 'no') },
  { title: 'PER MINUTE', of: ({ rate_limit: limit }) => limit, align: 'right' },
  { title: 'PERMISSIONS', of: ({ permissions }) => permissions.join(' ') },
  { title: 'LAST USED (UTC)', of: ({ last_used_at: at }) => showTime(at) },
  { title: 'EXPIRES (UTC)', of: ({ expires_at: at }) => showTime(at) },
];

type CreateOptions = {
  name: string;
  permission?: string[];
  rateLimit?: number;
  dailyLimit?: number;
  monthlyLimit?: number;
  allowedIp?: string[];
  expiresAt?: string;
};

function readCount(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw misuse(`"${text}" is not a whole number.`);
}

/** `key …`: API keys of an account. */
export function keyCommands(program: Command, open: OpenSession): void {
  const key = program.command('key').description('API keys of an account: create, list, revoke');

  withExamples(key.command('create').description('make an API key; it is shown in full only now'), [
    'key create acc_01k… --name production',
    'key create acc_01k… --name reports --permission sms:read --permission balance:read --rate-limit 60',
    'key create acc_01k… --name shop --allowed-ip 192.0.2.10 --daily-limit 5000 --expires-at 2027-01-01T00:00:00Z',
  ])
    .argument('<account>', "the account's id")
    .requiredOption('--name <name>', 'what the key is for')
    .option('--permission <scope...>', 'sms:send, sms:bulk, sms:read, balance:read, dlr:read (default: all)')
    .option('--rate-limit <n>', 'requests per minute, at most 6000 (default: 600)', readCount)
    .option('--daily-limit <n>', 'messages per UTC day', readCount)
    .option('--monthly-limit <n>', 'messages per UTC month', readCount)
    .option('--allowed-ip <address...>', 'IPv4 addresses it may be used from (default: any)')
    .option('--expires-at <time>', 'RFC 3339 time from which it is no longer accepted')
    .action(async (accountId: string, options: CreateOptions) => {
      const { operator, output } = open();
      const created = await operator.post<CreatedKey>(`/accounts/${encodeURIComponent(accountId)}/api-keys`, {
        name: options.name,
        permissions: options.permission,
        rate_limit: options.rateLimit,
        daily_limit: options.dailyLimit,
        monthly_limit: options.monthlyLimit,
        allowed_ips: options.allowedIp,
        expires_at: options.expiresAt,
      });
      output.result(created, ({ id, plain_key: plainKey, plain_key_notice: notice }) => [
        ...describe([
          ['id', id],
          ['key', plainKey],
        ]),
        notice,
      ]);
    });

  withExamples(key.command('list').description("list an account's keys, newest first"), ['key list acc_01k…'])
    .argument('<account>', "the account's id")
    .action(async (accountId: string) => {
      const { operator, output } = open();
      const { data } = await operator.get<{ data: Key[] }>(`/accounts/${encodeURIComponent(accountId)}/api-keys`);
      await output.list(onePage(data), columns, 'This account has no keys.');
    });

  withExamples(key.command('revoke').description('revoke a key: it is no longer accepted, at once'), [
    'key revoke acc_01k… key_01k…',
  ])
    .argument('<account>', "the account's id")
    .argument('<key>', "the key's id")
    .action(async (accountId: string, keyId: string) => {
      const { operator, output } = open();
      const path = `/accounts/${encodeURIComponent(accountId)}/api-keys/${encodeURIComponent(keyId)}`;
      output.result(await operator.delete(path), () => `${keyId} is revoked.`);
    });
}
