import type { Receipt } from '../provider.ts';

type State = Receipt['state'];

/**
 * What the parts of a message say about the whole: failed as soon as one part failed, delivered once all are, undelivered once all have
 * ended otherwise. `states` has one entry for every part, `sent` where nothing final is known yet.
 */
export function foldParts(states: readonly State[]): State {
  if (states.includes('failed')) return 'failed';
  if (states.length === 0 || states.includes('sent')) return 'sent';
  return states.includes('undelivered') ? 'undelivered' : 'delivered';
}
