import twilio from 'twilio';
import { describe, expect, it } from 'vitest';
import { twilioErrors } from '../../src/providers/twilio-errors.ts';
import { senderWithPlus } from '../../src/providers/sender.ts';
import { describeAdapter } from './contract.ts';
import { twilioCases, twilioCodesByClass } from './twilio-cases.ts';
import { twilioSettings } from './twilio-signature.ts';

describeAdapter(twilioCases);

describe('twilio: oracles', () => {
  it('the table of errors has no code besides those that are tried above', () => {
    const tried = Object.values(twilioCodesByClass).flat().map(String);
    expect([...twilioErrors.keys()].sort()).toEqual(tried.sort());
  });

  it.each(twilioCases.messages)("Twilio's own client sends the same request: $title", async ({ request, wire }) => {
    const sent: Array<Parameters<twilio.RequestClient['request']>[0]> = [];
    class Recorder extends twilio.RequestClient {
      override request: twilio.RequestClient['request'] = (options) => {
        sent.push(options);
        return Promise.resolve({ statusCode: 201, body: { sid: 'SM1' }, headers: {} }) as never;
      };
    }
    const { accountSid, authToken, baseUrl } = twilioSettings;
    const client = twilio(accountSid, authToken, { httpClient: new Recorder() });
    await client.messages.create({
      to: request.to,
      from: senderWithPlus(request.from),
      body: request.body,
      statusCallback: request.callbackUrl,
    });

    const [own] = sent;
    expect(own).toMatchObject({ method: 'post', uri: baseUrl + wire.path, username: accountSid, password: authToken });
    expect(Object.fromEntries(new URLSearchParams(wire.body))).toEqual(own?.data);
  });
});
