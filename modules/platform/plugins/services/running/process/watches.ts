/** Watches a process: memory that V8 does not count, and processor time; at short intervals while the process uses much. */
import type { ResourceLimits } from '#plugin-sdk/host';
import type { Running } from '../runners/runner.ts';
import type { End } from './invocation.ts';

const EVERY_MS = 500;
/** The share of a processor above which it is watched at short intervals. */
const CLOSELY_MS = 100;
const BURNING = 0.3;
/** Memory that Node itself uses beside the heap. */
const BASE_MB = 128;
/** Processor time without a message after which it gets the lowest priority, until the next message. */
const SILENT_MS = 300;

/** The activity of a process: `signs` grows with each message, in either direction. */
export interface Doings {
  signs: number;
  /** The oldest call under way: processor time when it began, and how many came since. Null where there is none. */
  oldest: { cpuMs: number; calls: number } | null;
}

export const overBudget = ({ cpuMsPerCall }: Pick<ResourceLimits, 'cpuMsPerCall'>): string =>
  `It took more than ${cpuMsPerCall} ms of processor time for a call`;

export function watchUsage(
  running: Running,
  { memoryMb, cpuMsPerCall }: ResourceLimits,
  doings: () => Doings,
  end: (end: End) => void,
): () => void {
  const most = (memoryMb + BASE_MB) * 1_048_576;
  let seen = { signs: 0, cpuMs: 0 };
  let behind = false;
  let last = { at: performance.now(), cpuMs: 0 };
  const look = (): number => {
    const usage = running.usage();
    if (!usage) return EVERY_MS;
    const at = performance.now();
    const burning = usage.cpuMs - last.cpuMs > (at - last.at) * BURNING;
    last = { at, cpuMs: usage.cpuMs };
    if (usage.rssBytes > most) end({ kind: 'memory', reason: `It took more memory than ${memoryMb} MB` });
    const { signs, oldest } = doings();
    if (signs !== seen.signs || !oldest) seen = { signs, cpuMs: usage.cpuMs };
    const silent = usage.cpuMs - seen.cpuMs;
    if (behind !== silent > SILENT_MS) {
      behind = !behind;
      running.standBack(behind);
    }
    // Without messages only one call can have used it: an endless loop lets no other call start.
    if (silent > cpuMsPerCall || (oldest && usage.cpuMs - oldest.cpuMs > cpuMsPerCall * oldest.calls))
      end({ kind: 'cpu', reason: overBudget({ cpuMsPerCall }) });
    return burning ? CLOSELY_MS : EVERY_MS;
  };
  let timer: NodeJS.Timeout;
  const again = (afterMs: number) => {
    timer = setTimeout(() => again(look()), afterMs).unref();
  };
  again(EVERY_MS);
  return () => clearTimeout(timer);
}
