import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import type { Command } from 'commander';
import { isRecipient } from '../../messages/recipient.ts';
import { withExamples } from '../examples.ts';
import { Failure, misuse } from '../failure.ts';
import type { OpenSession, Session } from '../session.ts';
import { printable, showTime, type Column } from '../table.ts';

type Suppression = { to: string; source: string; created_at: string };
type Added = { added: number; already_suppressed: number };

const columns: ReadonlyArray<Column<Suppression>> = [
  { title: 'RECIPIENT', of: ({ to }) => to },
  { title: 'SOURCE', of: ({ source }) => source },
  { title: 'SINCE (UTC)', of: ({ created_at: at }) => showTime(at) },
];

/** What the operator API takes at once. */
const chunkSize = 1_000;
const malformedShownMax = 20;
const lineLengthMax = 10_000;

/** `suppression …`: whom an account does not send to. */
export function suppressionCommands(program: Command, open: OpenSession): void {
  const suppression = program
    .command('suppression')
    .description('recipients who are sent nothing: add, remove, list, import');

  withExamples(suppression.command('add').description('suppress recipients of an account'), [
    'suppression add acc_01k… +14155550123 +14155550124',
  ])
    .argument('<account>', "the account's id")
    .argument('<number...>', 'in E.164 form, such as +14155550123')
    .action(async (account: string, recipients: string[]) => {
      const { operator, output } = open();
      const wrong = recipients.find((recipient) => !isRecipient(recipient));
      if (wrong !== undefined) throw misuse(`"${wrong}" is not a number in E.164 form, such as +14155550123.`);
      const result = await operator.post<Added>('/suppressions', { account, recipients });
      output.result(result, showAdded);
    });

  withExamples(suppression.command('remove').description('let an account send to a recipient again'), [
    'suppression remove acc_01k… +14155550123',
  ])
    .argument('<account>', "the account's id")
    .argument('<number>', 'in E.164 form')
    .action(async (account: string, to: string) => {
      const { operator, output } = open();
      output.result(await operator.delete('/suppressions', { account, to }), () => `${to} is no longer suppressed.`);
    });

  withExamples(suppression.command('list').description("list an account's suppressions, by number"), [
    'suppression list acc_01k…',
    'suppression list acc_01k… --limit all --json > suppressed.json',
  ])
    .argument('<account>', "the account's id")
    .option('--limit <n>', 'how many, or all', '50')
    .action(async (account: string, { limit }: { limit: string }) => {
      const empty = 'Nobody is suppressed for this account.';
      await open().list('/suppressions', { account }, { limit, columns, empty });
    });

  withExamples(suppression.command('import').description('suppress the recipients of a file, one number per line'), [
    'suppression import acc_01k… opted-out.txt',
    'cut -d, -f2 customers.csv | heliograph suppression import acc_01k…',
  ])
    .argument('<account>', "the account's id")
    .argument('[file]', 'a text file; standard input when omitted or -', '-')
    .addHelpText(
      'after',
      '\nEmpty lines and lines that begin with # are left out. Importing a number again does no harm.',
    )
    .action(async (account: string, file: string) => importFile(open(), account, file));
}

function showAdded({ added, already_suppressed: already }: Added): string {
  return `${added} suppressed${already === 0 ? '' : `, ${already} were already`}.`;
}

async function importFile(session: Session, account: string, file: string): Promise<void> {
  const { operator, output, shell } = session;
  const total = { added: 0, already_suppressed: 0, malformed: 0 };
  let lines = 0;
  let chunk: string[] = [];
  const flush = async (): Promise<void> => {
    if (chunk.length === 0) return;
    const { added, already_suppressed: already } = await operator.post<Added>('/suppressions', {
      account,
      recipients: chunk,
    });
    total.added += added;
    total.already_suppressed += already;
    chunk = [];
    output.progress(`${lines} lines read, ${total.added} suppressed`);
  };
  for await (const line of linesOf(file === '-' ? shell.stdin : createReadStream(file), file)) {
    lines += 1;
    const text = line.trim();
    if (text === '' || text.startsWith('#')) continue;
    if (isRecipient(text)) chunk.push(text);
    else {
      total.malformed += 1;
      if (total.malformed <= malformedShownMax) {
        output.remark(`line ${lines}: "${printable(text.slice(0, 40))}" is not a number in E.164 form; left out`);
      }
    }
    if (chunk.length === chunkSize) await flush();
  }
  await flush();
  output.result(total, showAdded);
  if (total.malformed > 0) {
    throw new Failure(`${total.malformed} of ${lines} lines were left out. Mend them and import the file again.`);
  }
}

/** Spreadsheets begin their files with a byte order mark. */
async function* linesOf(stream: Readable, file: string): AsyncGenerator<string> {
  let rest = '\uFEFF';
  try {
    for await (const text of stream.setEncoding('utf8') as AsyncIterable<string>) {
      const lines = (rest === '\uFEFF' ? text.replace(/^\uFEFF/, '') : rest + text).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
      if (rest.length > lineLengthMax) break;
    }
  } catch (error) {
    throw new Failure(`Cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (rest.length > lineLengthMax) throw new Failure(`${file} is not a text of one number per line.`);
  yield rest;
}
