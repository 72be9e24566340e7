import { expect, it } from 'vitest';
import { createJournal, type JournalEntry } from '../../src/simulator/journal.ts';
import { scenarioOf } from '../../src/simulator/scenario.ts';

function entry(id: string, to = '+447700900123'): JournalEntry {
  const submission = { to, from: 'HELIO', text: 'Hello', callbackUrl: undefined, reference: undefined };
  const message = { id, provider: 'twilio', submission, scenario: scenarioOf(to), acceptedAt: 0, receipts: [] };
  const request = { method: 'POST', path: '/', query: '', headers: {}, body: '' };
  return { provider: 'twilio', receivedAt: 0, to, submission, outcome: 'accepted', message, request };
}

it('keeps the last entries, the raw requests of fewer, and numbers that never repeat', () => {
  const journal = createJournal({ entriesMax: 3, requestsMax: 2 });
  for (const id of ['1', '2', '3', '4', '5']) journal.add(entry(id));

  const { entries, total } = journal.list({ to: undefined, limit: 10 });
  expect(total).toBe(3);
  expect(entries.map(({ sequence, entry: kept }) => [sequence, kept.message?.id, kept.request !== undefined])).toEqual([
    [3, '3', false],
    [4, '4', true],
    [5, '5', true],
  ]);
});

it('finds a message by provider and id for as long as it is kept', () => {
  const journal = createJournal({ entriesMax: 2, requestsMax: 1 });
  for (const id of ['1', '2', '3']) journal.add(entry(id));
  expect(journal.find('twilio', '1')).toBeUndefined();
  expect(journal.find('twilio', '3')).toMatchObject({ id: '3' });
  expect(journal.find('vonage', '3')).toBeUndefined();
});

it('lists the newest that match, oldest first, and counts all that match', () => {
  const journal = createJournal({ entriesMax: 10, requestsMax: 10 });
  for (const [id, to] of [
    ['1', '+1'],
    ['2', '+2'],
    ['3', '+1'],
    ['4', '+1'],
  ] as const)
    journal.add(entry(id, to));
  const { entries, total } = journal.list({ to: '+1', limit: 2 });
  expect([total, entries.map(({ sequence }) => sequence)]).toEqual([3, [3, 4]]);
});
