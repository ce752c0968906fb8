/** How long each test file takes: remembered between runs, reported after a run, and used to start the slowest first. */
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

export const ROOT = join(import.meta.dirname, '../../..');
/** Outside version control: times belong to a machine. */
export const CACHE = join(ROOT, 'node_modules/.cache/quartermaster-tests');
const HISTORY = join(CACHE, 'times.json');
const SLOWEST_SHOWN = 20;
const BUDGET_SECONDS = 15 * 60;
/** Files of which no time is known: the ones that usually take minutes start first. */
const USUALLY_SLOW = /^test\/(contract|end-to-end|packages)\//;

/** One test file in one run. */
export interface FileTime {
  /** Relative to the repository. */
  file: string;
  /** From the start of its process to its end. */
  seconds: number;
  /** Processor time of that process; the database's is not included. */
  cpuSeconds: number;
}

type History = Record<string, number>;

function readHistory(): History {
  if (!existsSync(HISTORY)) return {};
  try {
    return JSON.parse(readFileSync(HISTORY, 'utf8')) as History;
  } catch {
    return {};
  }
}

/** The order in which files start, so that no processor waits for one long file at the end; takes absolute paths. */
export function slowestFirst(history: History = readHistory()): (a: string, b: string) => number {
  const expected = (path: string): number => {
    const file = relative(ROOT, path);
    // Without history: by size, which is at most some ten thousand bytes.
    return history[file] ?? (USUALLY_SLOW.test(file) ? 1000 : 0) + statSync(path).size / 1_000_000;
  };
  return (a, b) => expected(b) - expected(a);
}

/** The times that the processes of a run appended to a file, one JSON object a line. */
export function readTimes(path: string): FileTime[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as FileTime);
}

/** Remembers the times of a run; files that did not take part keep theirs, files that no longer exist lose theirs. */
export function remember(times: readonly FileTime[]): void {
  const history = { ...readHistory(), ...Object.fromEntries(times.map(({ file, seconds }) => [file, seconds])) };
  const existing = Object.entries(history).filter(([file]) => existsSync(join(ROOT, file)));
  mkdirSync(dirname(HISTORY), { recursive: true });
  writeFileSync(HISTORY, `${JSON.stringify(Object.fromEntries(existing.sort()), null, 1)}\n`);
}

/** The slowest files of a run, its length, and a warning where it exceeded the budget. */
export function report(times: readonly FileTime[], seconds: number): string {
  const total = times.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
  const slowest = times.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST_SHOWN);
  const lines = [
    `\nSlowest of ${times.length} files, in seconds (processor time of the test process in brackets):`,
    ...slowest.map(
      (one) => `  ${one.seconds.toFixed(1).padStart(6)} (${one.cpuSeconds.toFixed(1).padStart(5)})  ${one.file}`,
    ),
    `Run: ${Math.round(seconds)} s; all files together ${Math.round(total)} s of processor time.`,
  ];
  if (seconds > BUDGET_SECONDS) {
    lines.push(`WARNING: the run took ${Math.round(seconds)} s, more than the budget of ${BUDGET_SECONDS} s.`);
  }
  return `${lines.join('\n')}\n`;
}
