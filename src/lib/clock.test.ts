import { describe, expect, it } from 'vitest';
import { formatTime, formatTimeOrNull, systemClock } from './clock.ts';

describe('times', () => {
  it('are printed in UTC with milliseconds and a numeric offset', () => {
    const time = Date.UTC(2026, 10, 20, 3, 4, 5, 678);
    expect(formatTime(time)).toBe('2026-11-20T03:04:05.678+00:00');
    expect(formatTime(new Date(time))).toBe('2026-11-20T03:04:05.678+00:00');
    expect(formatTime(0)).toBe('1970-01-01T00:00:00.000+00:00');
  });

  it('that are not there are null', () => {
    expect(formatTimeOrNull(null)).toBeNull();
    expect(formatTimeOrNull(0)).toBe('1970-01-01T00:00:00.000+00:00');
  });

  it('are read from the system', () => {
    expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(1_000);
  });
});
