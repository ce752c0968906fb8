/** Updates that wait on macOS, from softwareupdate. */
import { askSystem } from '../../process/ask.ts';
import type { PendingUpdate } from '../updates.ts';

/** The search asks Apple and takes its time. */
const LIMIT_MS = 300_000;
const KIB = 1024;

/** Undefined when the search fails: that nothing is known is not that nothing waits. */
export async function macosUpdates(): Promise<PendingUpdate[] | undefined> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), LIMIT_MS);
  try {
    const { code, stdout } = await askSystem('/usr/sbin/softwareupdate', ['--list'], { signal: limit.signal });
    return code === 0 ? parseUpdates(stdout) : undefined;
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/** The two forms of `softwareupdate --list`: `* Label: …` since macOS 10.15, `* name` with a line below before. */
export function parseUpdates(text: string): PendingUpdate[] {
  const updates: PendingUpdate[] = [];
  let id: string | undefined;
  for (const line of text.split(/\r?\n/)) {
    const [, named] = /^\s*[*-] (?:Label: )?(\S.*?)\s*$/.exec(line) ?? [];
    if (named !== undefined) {
      id = named;
      continue;
    }
    if (id === undefined || !/^\s+\S/.test(line)) continue;
    updates.push(toUpdate(id, line));
    id = undefined;
  }
  return updates;
}

function toUpdate(id: string, line: string): PendingUpdate {
  const field = (name: string): string | undefined => new RegExp(`${name}: ([^,]+)`).exec(line)?.[1]?.trim();
  // The older form: `macOS Update (10.14.6), 2570000K [recommended] [restart]`
  const [, oldTitle, oldVersion] = /^\s*(.+?)(?: \(([^)]*)\))?, \d+K/.exec(line) ?? [];
  const size = field('Size')?.match(/^(\d+)Ki?B?$/)?.[1] ?? /(\d+)K\b/.exec(line)?.[1];
  const title = field('Title') ?? oldTitle ?? id;
  return {
    id,
    title,
    version: field('Version') ?? (oldVersion?.trim() || null),
    kind: /security|xprotect|rapid/i.test(`${id} ${title}`) ? 'security' : 'other',
    severity: field('Recommended') === 'YES' || line.includes('[recommended]') ? 'recommended' : null,
    sizeBytes: size === undefined ? null : Number(size) * KIB,
    rebootRequired: field('Action') === 'restart' || line.includes('[restart]'),
  };
}
