import {
  BrokenCircuitError,
  CircuitState,
  IsolatedCircuitError,
  SamplingBreaker,
  circuitBreaker,
  handleWhenResult,
} from 'cockatiel';
import type { SendResult } from '../providers/provider.ts';

export type BreakerState = 'closed' | 'open' | 'half_open';

const halfOpenAfterMs = 5_000;

/** A provider's own circuit breaker: it opens on a high rate of retryable results, and at once on refused credentials. */
export type Breaker = {
  readonly state: BreakerState;
  /** Runs `send` if the breaker lets it through (also as a probe after a pause); otherwise `skipped` without running it. */
  attempt<Result extends SendResult | undefined>(send: () => Promise<Result>): Promise<Result | 'skipped'>;
};

function isUnhealthy(result: unknown): boolean {
  const sent = result as SendResult | undefined;
  return sent?.outcome === 'unknown' || (sent?.outcome === 'retryable' && sent.reason !== 'unsupported');
}

function isRefusedCredential(result: unknown): boolean {
  const sent = result as SendResult | undefined;
  return sent?.outcome === 'retryable' && sent.reason === 'credentials';
}

export function createBreaker(): Breaker {
  const policy = circuitBreaker(handleWhenResult(isUnhealthy), {
    halfOpenAfter: halfOpenAfterMs,
    // Half of at least 5 requests a second over 10 s: one message that fails everywhere does not close a provider for others.
    breaker: new SamplingBreaker({ threshold: 0.5, duration: 10_000, minimumRps: 5 }),
  });
  const credentials = circuitBreaker(handleWhenResult(isRefusedCredential), {
    halfOpenAfter: 60_000,
    breaker: { state: undefined, success: () => undefined, failure: () => true },
  });
  return {
    get state() {
      if (policy.state === CircuitState.Open || credentials.state === CircuitState.Open) return 'open';
      if (policy.state === CircuitState.HalfOpen || credentials.state === CircuitState.HalfOpen) return 'half_open';
      return 'closed';
    },
    async attempt(send) {
      try {
        return await credentials.execute(() => policy.execute(send));
      } catch (error) {
        if (error instanceof BrokenCircuitError || error instanceof IsolatedCircuitError) return 'skipped';
        throw error;
      }
    },
  };
}
