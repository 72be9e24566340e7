import { Type } from 'typebox';
import type { Pool } from '../db/pool.ts';
import type { App } from '../http/app.ts';
import { envelope, envelopeSchema } from '../http/envelope.ts';
import type { Clock } from '../lib/clock.ts';
import { ApiError } from '../lib/errors.ts';
import { isRecipient } from '../messages/recipient.ts';
import { redactNumber } from '../retention/redaction.ts';

export type RedactionRouteDeps = { pool: Pool; clock: Clock };

/** Short of what proxies wait for; the caller asks again for the rest. */
const withinMs = 10_000;

const redactionSchema = Type.Object(
  {
    object: Type.Literal('redaction'),
    is_complete: Type.Boolean({ description: 'False where there is more than one call can do: repeat it.' }),
    pending_messages: Type.Integer({
      description: 'Messages still being sent, which keep their number until they are: ten minutes at most.',
    }),
    redacted: Type.Object(
      {
        messages: Type.Integer({ examples: [3] }),
        receipts: Type.Integer({ examples: [5] }),
        deliveries: Type.Integer({ description: 'Webhook deliveries whose stored answers were removed.' }),
        idempotent_answers: Type.Integer({ description: 'Answers stored for repeats of a request.' }),
        unmatched_receipts: Type.Integer(),
      },
      { description: 'What this call has changed.' },
    ),
  },
  { title: 'Redaction' },
);

/** Forgetting somebody. Neither the log nor the answer says whom. */
export function redactionRoutes(app: App, { pool, clock }: RedactionRouteDeps): void {
  app.post(
    '/redactions',
    {
      schema: {
        summary: 'Remove a number, and what was sent to it, from all accounts',
        description:
          'Messages to the number, and their events, show `[redacted]` for recipient and body and no reference from then on; raw receipts and ' +
          'stored answers are removed. Charges stay, and so do suppressions: forgetting an opt-out would let messages go out again.',
        body: Type.Object(
          { number: Type.String({ description: 'E.164 form.', examples: ['+14155550123'] }) },
          { examples: [{ number: '+14155550123' }] },
        ),
        response: { 200: envelopeSchema(redactionSchema) },
      },
    },
    async (request) => {
      const { number } = request.body;
      if (!isRecipient(number)) {
        throw new ApiError(
          'invalid_request',
          'The parameter number must be in E.164 form: a plus sign, the country code and the number.',
          { param: 'number' },
        );
      }
      const { pending, isComplete, answers, unmatchedReceipts, ...counts } = await redactNumber(
        { pool, clock },
        number,
        withinMs,
      );
      const changed = { ...counts, idempotent_answers: answers, unmatched_receipts: unmatchedReceipts };
      request.log.info({ redacted: changed, is_complete: isComplete }, 'operator: a number was redacted');
      return envelope(request, {
        object: 'redaction' as const,
        is_complete: isComplete,
        pending_messages: pending,
        redacted: changed,
      });
    },
  );
}
