import { describe, expect, it } from 'vitest';
import { ConfigError, loadConfig } from '../config.ts';
import { defaultRetention, problemsOf } from './retention-days.ts';

const file = `
public_url: https://sms.example.com
providers: { twilio: { account_sid: AC00000000000000000000000000000000, auth_token: a_token_of_twilio } }
routes: [{ id: 1, name: world, providers: [twilio] }]
rate_card: { default: 0.02 }
`;

function load(retention: string): ReturnType<typeof loadConfig> {
  return loadConfig({ HELIOGRAPH_CONFIG: 'heliograph.yaml' }, () => file + retention);
}

describe('the times for which data is kept', () => {
  it('are the defaults where nothing is said, in quickstart too', () => {
    expect(load('').retention).toEqual(defaultRetention);
    expect(loadConfig({}, () => '').retention).toEqual(defaultRetention);
    expect(problemsOf(defaultRetention)).toEqual([]);
  });

  it('are read one by one', () => {
    expect(load('retention: { messages_days: 200, receipts_days: 30 }').retention).toEqual({
      ...defaultRetention,
      messagesDays: 200,
      receiptsDays: 30,
    });
  });

  it.each([
    ['messages that do not outlive their events', '{ messages_days: 120 }', 'messages_days must be at least 121'],
    ['no place for deliveries of an event', '{ events_days: 60 }', 'deliveries_days must be at least events_days (60)'],
    ['less than the API promises', '{ events_days: 29 }', 'retention.events_days must be >= 30'],
    ['no number', '{ receipts_days: soon }', 'retention.receipts_days must be integer'],
    ['something unknown', '{ bodies_days: 3 }', 'retention has no setting bodies_days'],
  ])('cannot be %s', (_what, retention, problem) => {
    expect(() => load(`retention: ${retention}`)).toThrow(ConfigError);
    expect(() => load(`retention: ${retention}`)).toThrow(problem);
  });
});
