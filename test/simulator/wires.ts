import { simulatorCredentials, type ProviderId } from '../../src/simulator/simulator.ts';
import type { Received } from './receiver.ts';

export type Sms = { to: string; from?: string; text: string; callbackUrl?: string };
export type Answer = { status: number; headers: Headers; body: Record<string, unknown> };

/** How a test speaks to one upstream, without any of our adapters. */
export type Wire = {
  provider: ProviderId;
  send: (simulatorUrl: string, sms: Sms, signal?: AbortSignal) => Promise<Answer>;
  messageId: (answer: Answer) => unknown;
  errorCode: (answer: Answer) => unknown;
  status: (callback: Received) => unknown;
  callbackErrorCode: (callback: Received) => unknown;
  expected: {
    acceptedStatus: number;
    invalidRecipient: [status: number, code: unknown];
    optedOut: [status: number, code: unknown];
    noFunds: [status: number, code: unknown];
    sent: string;
    failed: [status: string, code: unknown];
    expired: [status: string, code: unknown];
  };
};

const twilio: Wire = {
  provider: 'twilio',
  send: (simulatorUrl, { to, from = 'HELIO', text, callbackUrl }, signal) =>
    post(
      `${simulatorUrl}/twilio/2010-04-01/Accounts/${simulatorCredentials.twilio.accountSid}/Messages.json`,
      basic(simulatorCredentials.twilio.accountSid, simulatorCredentials.twilio.authToken),
      new URLSearchParams({ To: to, From: from, Body: text, ...(callbackUrl && { StatusCallback: callbackUrl }) }),
      signal,
    ),
  messageId: ({ body }) => body['sid'],
  errorCode: ({ body }) => body['code'],
  status: ({ body }) => new URLSearchParams(body).get('MessageStatus'),
  callbackErrorCode: ({ body }) => new URLSearchParams(body).get('ErrorCode'),
  expected: {
    acceptedStatus: 201,
    invalidRecipient: [400, 21211],
    optedOut: [400, 21610],
    noFunds: [403, 20005],
    sent: 'sent',
    failed: ['undelivered', '30005'],
    expired: ['failed', '30036'],
  },
};

const vonage: Wire = {
  provider: 'vonage',
  send: (simulatorUrl, { to, from = 'HELIO', text, callbackUrl }, signal) =>
    post(
      `${simulatorUrl}/vonage/v1/messages`,
      {
        ...basic(simulatorCredentials.vonage.apiKey, simulatorCredentials.vonage.apiSecret),
        'Content-Type': 'application/json',
      },
      JSON.stringify({
        channel: 'sms',
        message_type: 'text',
        to: to.slice(1),
        from,
        text,
        webhook_url: callbackUrl,
        webhook_version: 'v1',
      }),
      signal,
    ),
  messageId: ({ body }) => body['message_uuid'],
  errorCode: ({ body }) => fragment(body['type']),
  status: ({ body }) => JSON.parse(body).status,
  callbackErrorCode: ({ body }) => fragment(JSON.parse(body).error?.type),
  expected: {
    acceptedStatus: 202,
    invalidRecipient: [422, '1170'],
    optedOut: [422, '1240'],
    noFunds: [402, 'low-balance'],
    sent: 'submitted',
    failed: ['rejected', '1190'],
    expired: ['rejected', '1360'],
  },
};

export const wires: readonly Wire[] = [twilio, vonage];

/** The other wire: the next provider of a chain. */
export function wireAfter(wire: Wire): Wire {
  return wire === twilio ? vonage : twilio;
}

function basic(user: string, password: string): Record<string, string> {
  return { Authorization: `Basic ${btoa(`${user}:${password}`)}` };
}

function fragment(type: unknown): string | undefined {
  return typeof type === 'string' ? type.split('#')[1] : undefined;
}

async function post(
  url: string,
  headers: Record<string, string>,
  body: URLSearchParams | string,
  signal?: AbortSignal,
): Promise<Answer> {
  const response = await fetch(url, { method: 'POST', headers, body, signal });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer['body'] };
}
