import { availableParallelism, loadavg } from 'node:os';
import process from 'node:process';
import { median } from '../quantile.ts';
import type { Statement } from './database.ts';
import type { Usage } from './meter.ts';
import type { Profile } from './profile.ts';

/** A line of figures: columns by name, in their order. */
export type Row = Record<string, string>;

export function integer(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

export function milliseconds(value: number): string {
  return value >= 100 ? integer(value) : value.toFixed(1);
}

export function mebibytes(bytes: number): string {
  return integer(bytes / 1024 / 1024);
}

/** Figure by figure the median of several runs. */
export function medianOf<Run>(runs: readonly Run[], figure: (run: Run) => number): number {
  return median(runs.map(figure));
}

type Used = { usage: Usage; journalBytes: number };

/**
 * What runs took of the machine: memory of the service; processor time a message takes of service and database, which says the most when
 * others use the machine as well; processors that each process kept busy.
 */
export function usageColumns<Run extends Used>(runs: readonly Run[], messagesOf: (run: Run) => number): Row {
  const figure = (read: (run: Run) => number): number => medianOf(runs, read);
  const microsecondsOf = (name: string): string =>
    integer(figure((run) => ((run.usage.cores[name] ?? 0) * run.usage.seconds * 1e6) / messagesOf(run)));
  const names = Object.keys(runs[0]?.usage.cores ?? {});
  return {
    MiB: mebibytes(figure(({ usage }) => usage.residentPeakBytes)),
    'journal B/message': integer(figure((run) => run.journalBytes / messagesOf(run))),
    'service µs/message': microsecondsOf('service'),
    'database µs': microsecondsOf('database'),
    ...Object.fromEntries(names.map((name) => [name, figure(({ usage }) => usage.cores[name] ?? 0).toFixed(2)])),
  };
}

/** Answers other than 201, so that a bench never measures refusals. */
export function unexpected(statuses: ReadonlyArray<Record<number, number>>, expected = 201): string {
  const others = statuses.flatMap((counts) => Object.entries(counts).filter(([status]) => Number(status) !== expected));
  return others.map(([status, count]) => `${count} × ${status}`).join(', ');
}

/** What the figures depend on besides the program. */
export function describeMachine(): string {
  const [oneMinute = 0] = loadavg();
  return `${availableParallelism()} processors, load average ${oneMinute.toFixed(2)}, Node ${process.version}`;
}

export function print(...lines: string[]): void {
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** Prints rows under the names of their columns, the first column to the left. */
export function printTable(rows: readonly Row[]): void {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = [columns, ...rows.map((row) => columns.map((column) => row[column] ?? ''))];
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => line[index]?.length ?? 0)));
  for (const line of cells) {
    const padded = line.map((cell, index) =>
      index === 0 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0),
    );
    print(`  ${padded.join('  ').trimEnd()}`);
  }
}

function percent(share: number): string {
  return (share * 100).toFixed(1);
}

/** Where the service and the database spent their time. */
export function printProfile(profile: Profile, statements: readonly Statement[], messages: number): void {
  print('', '  Service, by part, with what it calls of Node');
  printTable(profile.parts.map(({ name, share }) => ({ part: name, '%': percent(share) })));
  print('', '  Service, by function, without what it calls');
  printTable(profile.functions.map(({ name, share }) => ({ function: name, '%': percent(share) })));
  const total = statements.reduce((sum, { totalMs }) => sum + totalMs, 0);
  print(
    '',
    `  Database: ${(total / messages).toFixed(3)} ms in statements per message, over ${integer(messages)} messages`,
  );
  printTable(
    statements.slice(0, 25).map(({ text, calls, rows, totalMs }) => ({
      statement: text.replaceAll(/\s+/g, ' ').slice(0, 90),
      '%': percent(totalMs / total),
      calls: integer(calls),
      'calls/message': (calls / messages).toFixed(4),
      'rows/call': (rows / calls).toFixed(1),
      'ms/call': (totalMs / calls).toFixed(3),
    })),
  );
}
