import { Type, type Static } from 'typebox';

const days = (minimum: number, standard: number, description: string) =>
  Type.Integer({ minimum, maximum: 36_500, default: standard, description });

/** For how many days each class of data is kept at least, where nothing else is said. */
export const defaultRetention = { messagesDays: 400, eventsDays: 30, deliveriesDays: 30, receiptsDays: 90 };

/** The `retention` section of the configuration. */
export const retentionSchema = Type.Object(
  {
    messagesDays: days(62, defaultRetention.messagesDays, 'Messages, with their attempts.'),
    eventsDays: days(
      30,
      defaultRetention.eventsDays,
      'Events, and how far back webhooks can be replayed. The API lists those of 30 days.',
    ),
    deliveriesDays: days(30, defaultRetention.deliveriesDays, 'Attempts at webhooks and their answers.'),
    receiptsDays: days(1, defaultRetention.receiptsDays, 'Receipts as they came, matched or not.'),
  },
  {
    additionalProperties: false,
    default: {},
    description: 'For how long data is kept. It goes by whole months, once all in them is past its time.',
  },
);

export type RetentionDays = Static<typeof retentionSchema>;

/** A message may get its last event as long after it was sent, and months go as a whole. */
const messagesBeyondDays = 31;

/** What is wrong between these settings: messages outlive what tells of them, and an event has a place for its deliveries. */
export function problemsOf({ messagesDays, eventsDays, deliveriesDays, receiptsDays }: RetentionDays): string[] {
  const problems: string[] = [];
  if (deliveriesDays < eventsDays) {
    problems.push(`deliveries_days must be at least events_days (${eventsDays})`);
  }
  const least = Math.max(eventsDays, deliveriesDays, receiptsDays) + messagesBeyondDays;
  if (messagesDays < least) {
    problems.push(`messages_days must be at least ${least}: ${messagesBeyondDays} more than each of the others`);
  }
  return problems;
}
