import { randomUUID } from 'node:crypto';
import { simulatorCredentials } from '../../src/simulator/simulator.ts';
import { signTwilioCallback } from '../../src/simulator/upstreams/twilio.ts';
import { signVonageCallback } from '../../src/simulator/upstreams/vonage.ts';
import { readAnswer, type Answer } from './client.ts';

/** What became of a receipt: 200 and nothing more, or the envelope of an error. */
export type ReceiptAnswer = { status: number; error?: Answer<never>['error'] };

async function post(url: string, headers: Record<string, string>, body: string): Promise<ReceiptAnswer> {
  const response = await fetch(url, { method: 'POST', headers, body });
  const text = await response.text();
  if (response.status === 200 && text === '') return { status: 200 };
  const { status, error } = readAnswer<never>(response.status, response.headers, text);
  return { status, error };
}

/** Reports as Twilio does; `authToken` is what it signs with. */
export function reportAsTwilio(
  url: string,
  fields: { MessageSid?: string; MessageStatus: string; ErrorCode?: string; From?: string },
  authToken: string = simulatorCredentials.twilio.authToken,
): Promise<ReceiptAnswer> {
  const form = new URLSearchParams({ MessageSid: `SM${randomUUID().replaceAll('-', '')}`, ...fields });
  const headers = {
    'content-type': 'application/x-www-form-urlencoded; charset=UTF-8',
    'x-twilio-signature': signTwilioCallback(authToken, url, form),
  };
  return post(url, headers, form.toString());
}

/** Reports as Vonage does; `signatureSecret` is what it signs with. */
export function reportAsVonage(
  url: string,
  fields: { message_uuid?: string; status: string; error?: { type: string; title: string; detail: string } },
  signatureSecret: string = simulatorCredentials.vonage.signatureSecret,
): Promise<ReceiptAnswer> {
  const body = JSON.stringify({ message_uuid: randomUUID(), to: '14155550123', from: 'HELIO', ...fields });
  const claims = { iat: Math.floor(Date.now() / 1_000), jti: randomUUID() };
  const { apiKey } = simulatorCredentials.vonage;
  const authorization = `Bearer ${signVonageCallback({ apiKey, signatureSecret }, body, claims)}`;
  return post(url, { 'content-type': 'application/json', authorization }, body);
}
