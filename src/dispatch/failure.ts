import type { ErrorCode } from '../lib/errors.ts';
import type { RejectionClass } from '../providers/provider.ts';

/** Why a message failed, as its owner is told. */
export type Failure = { code: ErrorCode; message: string };

export const unavailable: Failure = {
  code: 'provider_unavailable',
  message: 'No upstream provider could take the message now. Send it again later.',
};

export const expired: Failure = {
  code: 'dispatch_expired',
  message:
    'The message could not be handed to an upstream provider within 10 minutes and was given up. Nothing was charged.',
};

const failureByClass: Record<RejectionClass, Failure> = {
  invalid_recipient: {
    code: 'invalid_recipient',
    message: 'The upstream provider refused the recipient: the number cannot receive SMS.',
  },
  invalid_sender: {
    code: 'invalid_sender',
    message: 'The upstream provider refused the sender for this recipient. Use another sender or register this one.',
  },
  invalid_content: { code: 'content_rejected', message: 'The upstream provider refused the content of the message.' },
  blocked: {
    code: 'recipient_blocked',
    message: 'The upstream provider blocked the message: the recipient opted out or a filter refused it.',
  },
  billing: {
    code: 'provider_billing',
    message:
      "The service's own account at the upstream provider cannot pay for the message. The operator must top it up.",
  },
};

export function failureOf(rejection: RejectionClass): Failure {
  return failureByClass[rejection];
}
