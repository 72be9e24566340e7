import type { Clock } from '../../src/lib/clock.ts';
import type {
  Provider,
  ProviderName,
  Receipt,
  ReceiptRequest,
  SendRequest,
  SendResult,
} from '../../src/providers/provider.ts';
import type { ErrorClass } from '../../src/providers/result.ts';
import type { WireAnswer, WireRequest } from './scripted-server.ts';

/** The moment every contract test happens at. */
export const nowMs = Date.parse('2026-11-20T09:00:00Z');

/** Everything the contract needs to know about an adapter that speaks HTTP. */
export type AdapterCases = {
  name: ProviderName;
  create(options: { baseUrl: string; timeoutMs: number; clock: Clock }): Provider;

  /** An answer that accepts a message, and the id in it. */
  accepted: { answer: WireAnswer; providerMessageId: string };
  /** What must be on the wire for a message; of the headers those the adapter itself decides. */
  messages: Array<{ title: string; request: SendRequest; wire: WireRequest }>;
  /** Answers that do not accept, and how each is read. */
  refusals: Array<{ title: string; answer: WireAnswer; expected: SendResult }>;

  /** How the upstream asks to be called about a message it took; absent where it cannot be asked. */
  lookUps?: {
    recipient?: string;
    providerMessageId: string;
    wire: WireRequest;
    found: Array<{ title: string; answer: WireAnswer; expected: Receipt }>;
    /** Answers that know no such message, besides a 404. */
    notFound: Array<{ title: string; answer: WireAnswer }>;
    /** Answers of 200 that tell no state. */
    unclear: Array<{ title: string; answer: WireAnswer }>;
  };

  receipts: Array<{ title: string; content: string; expected: Receipt[] }>;
  /** Signed, and still not to be understood. */
  malformedReceipts: Array<{ title: string; content: string }>;
  /** How the content of a receipt travels; as the body of a POST unless told otherwise. */
  carry?(receipt: { callbackUrl: string; content: Buffer }): Pick<ReceiptRequest, 'method' | 'url' | 'rawBody'>;
  /** The headers under which the upstream sends a receipt; a signature among them where it signs. */
  sign(receipt: { url: string; rawBody: Buffer; issuedAtMs: number }): Record<string, string>;
  /** Changes to a signed receipt that must make it a forgery, beyond a missing signature and a changed content; none where nothing is signed. */
  forgeries: Array<{ title: string; forge(signed: ReceiptRequest): ReceiptRequest }>;
};

/** A message as the dispatcher hands it over; `changes` say what a case is about. */
export function messageWith(changes: Partial<SendRequest> = {}): SendRequest {
  return {
    to: '+447700900123',
    from: 'HELIO',
    body: 'Hello',
    encoding: 'gsm7',
    segments: 1,
    callbackUrl: 'https://sms.example.com/receipts/upstream/AbC-123_x',
    ref: 'AbC-123_x',
    ...changes,
  };
}

/** The result an adapter must give for an upstream's error of a class, with the upstream's own code and text kept. */
export function resultOf(errorClass: ErrorClass, error: { code: string; message: string; optOut?: true }): SendResult {
  const { code, message } = error;
  switch (errorClass) {
    case 'throttled':
    case 'unavailable':
    case 'credentials':
    case 'unsupported':
      return { outcome: 'retryable', reason: errorClass, code, message };
    case 'unknown':
      return { outcome: 'unknown', code, message };
    default:
      return { outcome: 'rejected', class: errorClass, ...error };
  }
}
