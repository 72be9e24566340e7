/** What a carrier reports about a message; every upstream has its own word for each. */
export type ReceiptStatus = 'sent' | 'delivered' | 'failed' | 'expired';

/** Why an upstream turns a message away for good. */
export type Refusal = 'invalid_recipient' | 'opted_out' | 'no_funds';

/** `silent`: the request is taken and never answered. */
export type Outcome = 'accepted' | 'unavailable' | 'throttled' | 'silent' | Refusal;

export type Scenario = {
  readonly outcome: Outcome;
  /** Set when the first provider tried answers differently from those after it. */
  readonly firstOutcome?: Outcome;
  readonly answerAfterMs: number;
  /** Reported in this order, evenly spread over the delivery delay, each after the one before was answered. */
  readonly receipts: readonly ReceiptStatus[];
  /** The receipts are posted, and answered, before the send is. */
  readonly receiptsBeforeAnswer: boolean;
};

const ordinary: Scenario = {
  outcome: 'accepted',
  answerAfterMs: 0,
  receipts: ['sent', 'delivered'],
  receiptsBeforeAnswer: false,
};

/** What becomes of a message whose upstream refuses it only after it took it. */
export const refusedLater: Scenario = { ...ordinary, receipts: ['failed'] };

/** An unassigned calling code: no real subscriber is behind these numbers. */
const MAGIC_PREFIX = '+99901';

const scenarios: ReadonlyMap<string, Scenario> = new Map<string, Scenario>([
  ['001', ordinary],
  ['002', { ...ordinary, outcome: 'invalid_recipient' }],
  ['003', { ...ordinary, outcome: 'opted_out' }],
  ['004', { ...ordinary, outcome: 'no_funds' }],
  ['005', { ...ordinary, firstOutcome: 'unavailable' }],
  ['006', { ...ordinary, outcome: 'unavailable' }],
  ['007', { ...ordinary, firstOutcome: 'silent' }],
  ['008', { ...ordinary, receipts: ['sent', 'failed'] }],
  ['009', { ...ordinary, receipts: ['sent', 'expired'] }],
  ['010', { ...ordinary, receipts: [] }],
  ['011', { ...ordinary, receipts: ['delivered'], receiptsBeforeAnswer: true }],
  ['012', { ...ordinary, receipts: ['delivered', 'sent', 'delivered'] }],
  ['013', { ...ordinary, firstOutcome: 'throttled' }],
  ['014', { ...ordinary, answerAfterMs: 5_000 }],
]);

/** The three digits after `+99901` choose what happens; every other number is delivered. */
export function scenarioOf(to: string): Scenario {
  if (!to.startsWith(MAGIC_PREFIX)) return ordinary;
  return scenarios.get(to.slice(MAGIC_PREFIX.length, MAGIC_PREFIX.length + 3)) ?? ordinary;
}
