import type { Command } from 'commander';
import { isRecipient } from '../../messages/recipient.ts';
import { withExamples } from '../examples.ts';
import { Failure, misuse } from '../failure.ts';
import type { OpenSession, Session } from '../session.ts';

type Counts = {
  messages: number;
  receipts: number;
  deliveries: number;
  idempotent_answers: number;
  unmatched_receipts: number;
};
type Redaction = { is_complete: boolean; pending_messages: number; redacted: Counts };

/** `redact`: forgetting somebody. */
export function redactCommand(program: Command, open: OpenSession): void {
  withExamples(
    program.command('redact').description('remove a number, and what was sent to it, from all accounts; for good'),
    ['redact +14155550123'],
  )
    .argument('<number>', 'in E.164 form, such as +14155550123')
    .addHelpText(
      'after',
      '\nCharges stay, and so do suppressions: forgetting an opt-out would let messages go out again.\nExit code 1 while messages to the number are still being sent: redact it again ten minutes later.',
    )
    .action(async (number: string) => {
      if (!isRecipient(number)) throw misuse(`"${number}" is not a number in E.164 form, such as +14155550123.`);
      await redact(open(), number);
    });
}

async function redact({ operator, output }: Session, number: string): Promise<void> {
  const total: Counts = { messages: 0, receipts: 0, deliveries: 0, idempotent_answers: 0, unmatched_receipts: 0 };
  let part: Redaction;
  do {
    part = await operator.post<Redaction>('/redactions', { number });
    for (const name of Object.keys(total) as Array<keyof Counts>) total[name] += part.redacted[name];
    output.progress(`${total.messages} messages redacted`);
  } while (!part.is_complete);
  const { pending_messages: pending } = part;
  output.result({ redacted: total, pending_messages: pending }, () => describe(total));
  if (pending > 0) {
    const messages = pending === 1 ? '1 message to this number is' : `${pending} messages to this number are`;
    throw new Failure(`${messages} still being sent. Redact it again in ten minutes.`);
  }
}

function describe(total: Counts): string {
  return (
    `Redacted: ${total.messages} messages, ${total.receipts} receipts, answers to ${total.deliveries} webhook deliveries and ` +
    `${total.idempotent_answers} requests, ${total.unmatched_receipts} unmatched receipts.`
  );
}
