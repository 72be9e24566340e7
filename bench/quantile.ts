/** The value below which the share `q` of the sorted values lies. */
export function quantile(sorted: ArrayLike<number>, q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

export function median(values: readonly number[]): number {
  return quantile(Float64Array.from(values).sort(), 0.5);
}

/** What is told of a series of latencies. */
export function latencyOf(latenciesMs: readonly number[]): { p50: number; p99: number; max: number } {
  const sorted = Float64Array.from(latenciesMs).sort();
  return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), max: sorted.at(-1) ?? Number.NaN };
}
