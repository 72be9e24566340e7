import { pino } from 'pino';

export type Log = pino.Logger;

/** JSON lines on stderr-safe stdout; headers that carry keys are never written. */
export function createLog(options: { level: string; destination?: pino.DestinationStream }): Log {
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: ['*.authorization', '*.api_key', '*.signing_secret', '*.token'], censor: '[redacted]' },
    },
    options.destination ?? pino.destination({ fd: 2, sync: false }),
  );
}
