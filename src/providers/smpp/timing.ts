/** Durations nobody needs to configure. Tests pass shorter ones. */
export type SmppTiming = {
  connectTimeoutMs: number;
  bindTimeoutMs: number;
  enquireTimeoutMs: number;
  unbindTimeoutMs: number;
  /** For running sends and reports to end when the adapter is closed. */
  drainTimeoutMs: number;
  /** For a listener to store what it was told. */
  storeTimeoutMs: number;
  /** Waits between attempts to bind: doubled from the first to the longest. */
  reconnectFirstMs: number;
  reconnectLongestMs: number;
  /** A bind that lasted so long counts as a success: the next wait is a first one. */
  healthyAfterMs: number;
  /** The shortest wait after refused credentials: trying faster gets accounts locked. */
  credentialsWaitMs: number;
  /** The shortest wait after "already bound", and its double the longest: the old session must time out at the carrier. */
  alreadyBoundWaitMs: number;
  /** Pauses the carrier's throttling causes: doubled from the first to the longest. */
  pauseFirstMs: number;
  pauseLongestMs: number;
  /** Before a part is submitted again when the ones before it were accepted. */
  partRetryMs: number;
};

export const smppTiming: SmppTiming = {
  connectTimeoutMs: 10_000,
  bindTimeoutMs: 10_000,
  enquireTimeoutMs: 10_000,
  unbindTimeoutMs: 5_000,
  drainTimeoutMs: 10_000,
  storeTimeoutMs: 10_000,
  reconnectFirstMs: 1_000,
  reconnectLongestMs: 60_000,
  healthyAfterMs: 60_000,
  credentialsWaitMs: 60_000,
  alreadyBoundWaitMs: 30_000,
  pauseFirstMs: 1_000,
  pauseLongestMs: 30_000,
  partRetryMs: 500,
};
