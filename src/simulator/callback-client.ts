import { Agent, errors } from 'undici';
import type { CallbackResult, WireCallback } from './upstream.ts';

/** Twilio's limits, and generous for the others. */
const CONNECT_TIMEOUT_MS = 5_000;
const ANSWER_TIMEOUT_MS = 15_000;
const ANSWER_BYTES_MAX = 64 * 1024;

export type CallbackClient = {
  post(callback: WireCallback, done: (result: CallbackResult) => void): void;
  stop(): Promise<void>;
};

export function createCallbackClient(connections: number): CallbackClient {
  const agent = new Agent({
    connections,
    pipelining: 1,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: ANSWER_TIMEOUT_MS,
    bodyTimeout: ANSWER_TIMEOUT_MS,
    maxResponseSize: ANSWER_BYTES_MAX,
  });

  return {
    post({ method, url, headers, body }, done) {
      const { origin, pathname, search } = new URL(url);
      let status = 0;
      // `dispatch` and not `request`: nobody reads the answer's body, so no stream is built for it.
      agent.dispatch(
        { origin, path: pathname + search, method, headers, body },
        {
          onRequestStart() {},
          onResponseStart(_controller, statusCode) {
            status = statusCode;
          },
          onResponseData() {},
          onResponseEnd() {
            done(status);
          },
          onResponseError(_controller, error) {
            done(isTimeout(error) ? 'timed_out' : 'unreachable');
          },
        },
      );
    },

    stop: () => agent.destroy(),
  };
}

function isTimeout(error: unknown): boolean {
  return error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError;
}
