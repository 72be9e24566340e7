import type { Command } from 'commander';
import type { Static } from 'typebox';
import type { senderSchema } from '../../senders/schema.ts';
import { withExamples } from '../examples.ts';
import type { OpenSession } from '../session.ts';
import { showTime, type Column } from '../table.ts';

type Sender = Static<typeof senderSchema> & { account_id: string };

const columns: ReadonlyArray<Column<Sender>> = [
  { title: 'SENDER', of: ({ id }) => id },
  { title: 'TEXT', of: ({ sender_id: text }) => text },
  { title: 'TYPE', of: ({ type }) => type },
  { title: 'COUNTRY', of: ({ country_code: country }) => country },
  { title: 'STATUS', of: ({ status }) => status },
  { title: 'ACCOUNT', of: ({ account_id: accountId }) => accountId },
  { title: 'CREATED (UTC)', of: ({ created_at: at }) => showTime(at) },
];

/** `sender …`: what accounts send from, and the decisions about it. */
export function senderCommands(program: Command, open: OpenSession): void {
  const sender = program.command('sender').description('senders: create, list, approve, reject, suspend');

  withExamples(sender.command('create').description("apply for a sender with an account's key; it is then pending"), [
    'sender create HELIO --key ds_live_…',
    'sender create +15005550006 --country US --key ds_live_…',
  ])
    .argument('<text>', 'up to 11 letters, digits or spaces, or a numeric long or short code')
    .option('--type <type>', 'alphanumeric, numeric, short_code or long_code (default: as the text looks)')
    .option('--country <code>', 'two letters: where it is to be used')
    .action(async (text: string, { type, country }: { type?: string; country?: string }) => {
      const { account, output } = open();
      const created = await account.post<Sender>('/senders/create', { sender_id: text, type, country_code: country });
      output.result(
        created,
        ({ id, status }) => `${text} is ${status} as ${id}. Approve it: heliograph sender approve ${id}`,
      );
    });

  withExamples(sender.command('list').description('list senders of all accounts, newest first'), [
    'sender list --status pending',
    'sender list --account acc_01k…',
  ])
    .option('--status <status>', 'pending, approved, rejected or suspended')
    .option('--account <account>', 'only those of this account')
    .option('--limit <n>', 'how many, or all', '50')
    .action(async ({ limit, ...query }: { limit: string; status?: string; account?: string }) => {
      await open().list('/senders', query, { limit, columns, empty: 'There are no such senders.' });
    });

  const decisions = {
    approve: 'approve a pending or suspended sender',
    reject: 'reject a pending sender for good; its account may apply again',
    suspend: 'suspend an approved sender: nothing can be sent from it',
  };
  for (const [decision, description] of Object.entries(decisions)) {
    withExamples(sender.command(decision).description(description), [`sender ${decision} snd_01k…`])
      .argument('<sender>', 'its id')
      .action(async (id: string) => {
        const { operator, output } = open();
        const decided = await operator.post<Sender>(`/senders/${encodeURIComponent(id)}/${decision}`);
        output.result(decided, ({ sender_id: text, status }) => `${text} (${id}) is ${status}.`);
      });
  }
}
