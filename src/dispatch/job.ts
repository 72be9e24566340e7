import type { MessageRow } from '../events/message-view.ts';
import type { ProviderName } from '../providers/provider.ts';
import type { AttemptRecord } from './attempt.ts';

/** A message to send, as far as its dispatch needs it. */
export type DispatchJob = {
  message: MessageRow;
  segments: number;
  providers: readonly ProviderName[];
  /** Attempts made on an earlier turn, of which it is known what came of them. */
  tried?: readonly AttemptRecord[];
  /** Attempts that may have been written already: one marked with the acceptance, or those of a process that was lost. */
  started: readonly ProviderName[];
  /** True when the last of `started` is about to be made by us; false when what became of it is unknown. */
  ownsLastStarted: boolean;
  /** The lease, as written in the queue row. */
  leasedUntilMs: number;
};

/** A message that goes on later, here or in another process. */
export type Waiting = {
  kind: 'waits';
  /** The lease, as written in the queue row. */
  heldUntilMs: number;
  /** The attempts made so far, of which it is known what came of them. */
  tried: readonly AttemptRecord[];
  /** Attempts of which nothing is known. */
  started: readonly ProviderName[];
  /** In how long its turn comes, where its providers tell. */
  turnInMs?: number;
};

/** A message for which no provider was asked: not the one either that its acceptance named as started. */
export function neverWalked({ tried = [], started, ownsLastStarted, leasedUntilMs }: DispatchJob): Waiting {
  return {
    kind: 'waits',
    heldUntilMs: leasedUntilMs,
    tried,
    started: ownsLastStarted ? started.slice(0, -1) : started,
  };
}
