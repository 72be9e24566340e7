import {
  BrokenCircuitError,
  CircuitState,
  circuitBreaker,
  handleWhenResult,
  type CircuitBreakerPolicy,
} from 'cockatiel';
import type { Clock } from '../lib/clock.ts';
import type { SendResult } from '../providers/provider.ts';
import { FailureRate } from './failure-rate.ts';

export type BreakerState = 'closed' | 'open' | 'half_open';

/** A provider's own circuit breaker: it opens on a high rate of retryable results, and at once on refused credentials. */
export type Breaker = {
  readonly state: BreakerState;
  /** True while the provider is left alone: for a while after it failed, and while one message probes it. */
  readonly isBlocking: boolean;
  /** Runs `send` if the breaker lets it through, also as that probe; otherwise `skipped` without running it. */
  attempt<Result extends SendResult | undefined>(send: () => Promise<Result>): Promise<Result | 'skipped'>;
};

const pauseMs = 5_000;
/** Credentials are mended by people. */
const credentialsPauseMs = 60_000;

function isUnhealthy(result: unknown): boolean {
  const sent = result as SendResult | undefined;
  return sent?.outcome === 'unknown' || (sent?.outcome === 'retryable' && sent.reason !== 'unsupported');
}

function isRefusedCredential(result: unknown): boolean {
  const sent = result as SendResult | undefined;
  return sent?.outcome === 'retryable' && sent.reason === 'credentials';
}

/** The policy, and whether it would turn a call away now. Cockatiel lets calls wait for a running probe; a message takes the next provider. */
class Circuit {
  readonly policy: CircuitBreakerPolicy;
  readonly #clock: Clock;
  readonly #pauseMs: number;
  #openedAtMs = 0;

  constructor(policy: CircuitBreakerPolicy, circuitPauseMs: number, clock: Clock) {
    this.policy = policy;
    this.#clock = clock;
    this.#pauseMs = circuitPauseMs;
    policy.onBreak(() => {
      this.#openedAtMs = clock.now();
    });
  }

  get isBlocking(): boolean {
    if (this.policy.state === CircuitState.HalfOpen) return true;
    return this.policy.state === CircuitState.Open && this.#clock.now() - this.#openedAtMs < this.#pauseMs;
  }
}

export function createBreaker(clock: Clock): Breaker {
  const health = circuitBreaker(handleWhenResult(isUnhealthy), {
    halfOpenAfter: pauseMs,
    breaker: new FailureRate(clock),
  });
  const atOnce = { state: undefined, success: () => undefined, failure: () => true };
  const credentials = circuitBreaker(handleWhenResult(isRefusedCredential), {
    halfOpenAfter: credentialsPauseMs,
    breaker: atOnce,
  });
  const circuits = [new Circuit(health, pauseMs, clock), new Circuit(credentials, credentialsPauseMs, clock)];
  const isAnyOf = (state: CircuitState): boolean => circuits.some(({ policy }) => policy.state === state);
  return {
    get state() {
      if (isAnyOf(CircuitState.Open)) return 'open';
      return isAnyOf(CircuitState.HalfOpen) ? 'half_open' : 'closed';
    },
    get isBlocking() {
      return circuits.some((circuit) => circuit.isBlocking);
    },
    async attempt(send) {
      if (this.isBlocking) return 'skipped';
      try {
        return await credentials.execute(() => health.execute(send));
      } catch (error) {
        if (error instanceof BrokenCircuitError) return 'skipped';
        throw error;
      }
    },
  };
}
