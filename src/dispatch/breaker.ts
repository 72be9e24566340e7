import {
  BrokenCircuitError,
  CircuitState,
  circuitBreaker,
  handleWhenResult,
  type CircuitBreakerPolicy,
  type IBreaker,
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

type Attempted = SendResult | undefined;

/** Nothing was asked of the provider, or nothing that it could have taken. */
function tellsNothing(result: Attempted): boolean {
  return result === undefined || (result.outcome === 'retryable' && result.reason === 'unsupported');
}

function isUnhealthy(result: Attempted): boolean {
  return !tellsNothing(result) && (result?.outcome === 'unknown' || result?.outcome === 'retryable');
}

function isRefusedCredential(result: Attempted): boolean {
  return result?.outcome === 'retryable' && result.reason === 'credentials';
}

/** A circuit that fails by these results. A probe that tells nothing leaves it open. */
function circuitOf(
  fails: (result: Attempted) => boolean,
  halfOpenAfter: number,
  breaker: IBreaker,
): CircuitBreakerPolicy {
  const policy: CircuitBreakerPolicy = circuitBreaker(
    handleWhenResult((result) => {
      const sent = result as Attempted;
      return fails(sent) || (tellsNothing(sent) && policy.state === CircuitState.HalfOpen);
    }),
    { halfOpenAfter, breaker },
  );
  return policy;
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
  const health = circuitOf(isUnhealthy, pauseMs, new FailureRate(clock));
  const atOnce = { state: undefined, success: () => undefined, failure: () => true };
  const credentials = circuitOf(isRefusedCredential, credentialsPauseMs, atOnce);
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
