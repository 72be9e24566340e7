import { getExpectedTwilioSignature } from 'twilio/lib/webhooks/webhooks.js';
import type { TwilioSettings } from '../../src/providers/twilio.ts';

export const twilioSettings: TwilioSettings = {
  baseUrl: 'https://api.twilio.com',
  accountSid: 'AC0123456789abcdef0123456789abcdef',
  authToken: '12345',
  timeoutMs: 1_000,
};

/** Twilio's own signing function over the fields of a form. */
export function twilioSignature(authToken: string, url: string, rawBody: Buffer): string {
  const fields: Record<string, string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(rawBody.toString())) (fields[name] ??= []).push(value);
  return getExpectedTwilioSignature(authToken, url, fields);
}
