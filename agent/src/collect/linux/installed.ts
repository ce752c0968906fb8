/** The updates that were installed on a Linux machine, from the logs of dpkg and dnf; the newest of each package. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Patch } from '#agent-protocol';
import { linuxPatch } from '../updates.ts';

const LOGS = /^(?:dpkg|dnf\.rpm)\.log(?:[.-]\d+)?(?:\.gz)?$/;
/** A log of a month has about a megabyte. */
const MAX_LOG_BYTES = 64 * 1024 * 1024;

/** Empty where neither of the two keeps a log; `folder` is another one than /var/log in trials. */
export async function linuxInstalled(folder = '/var/log'): Promise<Patch[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => LOGS.test(name));
  const dated = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(join(folder, name)).catch(() => undefined))?.mtimeMs ?? 0 })),
  );
  const found = new Map<string, Patch>();
  // Oldest first, so that later lines replace what earlier ones said.
  for (const { name } of dated.sort((one, other) => one.at - other.at)) {
    const text = await logText(join(folder, name));
    if (name.startsWith('dpkg')) readDpkgLog(text, found);
    else readDnfLog(text, found);
  }
  return [...found.values()];
}

/** Empty for what cannot be read. */
async function logText(path: string): Promise<string> {
  const bytes = await readFile(path).catch(() => Buffer.alloc(0));
  if (!path.endsWith('.gz')) return bytes.toString('utf8');
  const whole = await promisify(gunzip)(bytes, { maxOutputLength: MAX_LOG_BYTES }).catch(() => Buffer.alloc(0));
  return whole.toString('utf8');
}

/**
 * Lines of dpkg in the device's own time: `… upgrade NAME:ARCH OLD NEW` announces an update, `… status installed NAME:ARCH
 * NEW` says that it is there, and `… remove NAME:ARCH …` that the package is gone.
 */
export function readDpkgLog(text: string, found: Map<string, Patch>): void {
  const announced = new Map<string, string>();
  const line =
    /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) (upgrade|status installed|remove) (\S+?)(?::\w+)? (\S+)(?: (\S+))?$/;
  for (const row of text.split('\n')) {
    const [, day, time, word, name = '', version = '', next = ''] = line.exec(row) ?? [];
    if (word === 'upgrade') announced.set(name, next);
    if (word === 'remove') found.delete(`apt:${name}`);
    if (word !== 'status installed' || announced.get(name) !== version) continue;
    found.set(`apt:${name}`, at('apt', name, version, new Date(`${day}T${time}`)));
  }
}

/** Lines of dnf: `2026-11-21T07:42:13+0000 SUBDEBUG Upgrade: NAME-[EPOCH:]VERSION-RELEASE.ARCH`; `Upgraded:` is the one before. */
export function readDnfLog(text: string, found: Map<string, Patch>): void {
  const line = /^(\S+T[\d:]{8})(Z|[+-]\d{4}) \S+ (Upgrade|Erase|Removed): (\S+)-([^-\s]+-[^-\s]+)\.\w+$/;
  for (const row of text.split('\n')) {
    const [, time, zone = '', word, name = '', version = ''] = line.exec(row) ?? [];
    const moment = new Date(`${time}${zone.replace(/(\d\d)$/, ':$1')}`);
    if (word === 'Upgrade') found.set(`rpm:${name}`, at('rpm', name, version, moment));
    else if (word) found.delete(`rpm:${name}`);
  }
}

function at(manager: string, name: string, version: string, moment: Date): Patch {
  const known = !Number.isNaN(moment.getTime());
  return { ...linuxPatch(manager, name, version), ...(known && { installedAt: moment.toISOString() }) };
}
