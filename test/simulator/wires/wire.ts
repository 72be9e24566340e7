import { postControl } from '../control-client.ts';
import { type Received, type Receiver, startReceiver } from '../receiver.ts';
import type { ProviderId, Simulator } from '../../../src/simulator/simulator.ts';

export type Sms = { to: string; from?: string; text: string };
export type Answer = { status: number; code: unknown; messageId: string | undefined; retryAfter: string | null };
export type Report = { messageId: string; status: string; code: unknown };

/** One upstream's customer, without any of our adapters. */
export type Sender = {
  send(sms: Sms, signal?: AbortSignal): Promise<Answer>;
  /** What it was told, in order. */
  reports: Report[];
  stop(): Promise<void>;
};

/** A refusal is answered to the send, or comes as a report on a message that was taken. */
export type RefusalOnWire =
  | { answered: [status: number, code: unknown] }
  | { reported: [status: string, code: unknown] };

export type Wire = {
  provider: ProviderId;
  /** `beforeAnswer` is awaited before a report is answered. */
  connect(simulator: Simulator, beforeAnswer?: () => Promise<void>): Promise<Sender>;
  expected: {
    accepted: number;
    unavailable: number;
    throttled: [status: number, retryAfter: string | null];
    invalidRecipient: RefusalOnWire;
    optedOut: RefusalOnWire;
    noFunds: RefusalOnWire;
    sent: string;
    delivered: string;
    failed: [status: string, code: unknown];
    expired: [status: string, code: unknown];
  };
};

export type HttpWire = Wire & {
  request: HttpDialect['request'];
  send(simulatorUrl: string, sms: Sms & { callbackUrl?: string }, signal?: AbortSignal): Promise<Answer>;
};

export type HttpDialect = {
  provider: ProviderId;
  request(sms: Required<Sms> & { callbackUrl?: string }): {
    path: string;
    headers: Record<string, string>;
    body: URLSearchParams | string;
  };
  /** `body` is parsed where it is JSON. */
  read(body: unknown): { code?: unknown; messageId?: string };
  report(callback: Received): Report;
  hasAccountCallback?: true;
  expected: Omit<Wire['expected'], 'unavailable' | 'throttled'>;
};

export function httpWire(dialect: HttpDialect): HttpWire {
  const { provider, expected } = dialect;

  async function send(simulatorUrl: string, sms: Sms & { callbackUrl?: string }, signal?: AbortSignal) {
    const { path, headers, body } = dialect.request({ from: 'HELIO', ...sms });
    const url = `${simulatorUrl}/${provider}${path}`;
    const response = await fetch(url, { method: 'POST', headers, body, signal });
    const read = dialect.read(parsed(await response.text()));
    const retryAfter = response.headers.get('retry-after');
    return { status: response.status, code: read.code, messageId: read.messageId, retryAfter };
  }

  return {
    provider,
    request: (sms) => dialect.request(sms),
    send,

    async connect(simulator, beforeAnswer = () => Promise.resolve()) {
      const reports: Report[] = [];
      const receiver: Receiver = await startReceiver(async (received) => {
        reports.push(dialect.report(received));
        await beforeAnswer();
        return 200;
      });
      const callbackUrl = `${receiver.url}/receipts/${provider}/token`;
      if (dialect.hasAccountCallback) await postControl(simulator.url, `/providers/${provider}`, { callbackUrl });
      return {
        send: (sms, signal) => send(simulator.url, { ...sms, callbackUrl }, signal),
        reports,
        stop: () => receiver.stop(),
      };
    },

    expected: { ...expected, unavailable: 503, throttled: [429, '1'] },
  };
}

export function basic(user: string, password: string): { Authorization: string } {
  return { Authorization: `Basic ${btoa(`${user}:${password}`)}` };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The value at a path of keys and indexes, or undefined where there is none. */
export function at(value: unknown, ...path: (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined),
    value,
  );
}

export function textAt(value: unknown, ...path: (string | number)[]): string | undefined {
  const inner = at(value, ...path);
  return typeof inner === 'string' ? inner : undefined;
}
