/** The updates that wait and those that were installed, as the system's own installer knows them; nothing is changed. */
import { access } from 'node:fs/promises';
import type { Patch, PatchSource } from '#agent-protocol';
import { ToolError } from '../tools/contract.ts';
import { type Ask, askLinux } from '../tools/linux/ask.ts';
import { linuxInstalled } from './linux/installed.ts';
import { macosInstalled } from './macos/installed.ts';
import { macosUpdates } from './macos/updates.ts';
import { linuxPatch, type PendingUpdate } from './updates.ts';
import { windowsInstalled } from './windows/installed.ts';
import { windowsUpdates } from './windows/updates.ts';

export interface FoundPatches {
  source: PatchSource;
  pending: Patch[];
  /** Updates that were installed, as far back as the system remembers; what came with the system is none. */
  installed: Patch[];
  /** Absent where heartbeats report it and this query does not. */
  rebootPending?: boolean;
}

/** Package managers look at their lists of packages, and some fetch those first. */
const LIMIT_MS = 110_000;

/** The list, or undefined where nothing that this agent knows gives one. */
export async function collectPatches(): Promise<FoundPatches | undefined> {
  if (process.platform === 'win32') return fromUpdates('microsoft', await windowsUpdates(), windowsInstalled);
  if (process.platform === 'darwin') return fromUpdates('apple', await macosUpdates(), macosInstalled);
  const pending = await linuxPatches(askLinux, AbortSignal.timeout(LIMIT_MS)).catch(() => undefined);
  if (!pending) return undefined;
  const rebootPending = await access('/run/reboot-required').then(
    () => true,
    () => false,
  );
  return { source: 'linux', pending, installed: await linuxInstalled(), rebootPending };
}

/** Updates of a system whose maker's own installer names them. */
export async function fromUpdates(
  source: FoundPatches['source'],
  updates: readonly PendingUpdate[] | undefined,
  history: () => Promise<Patch[]>,
): Promise<FoundPatches | undefined> {
  const pending = updates?.map(
    ({ id, title, version, kind, severity, rebootRequired }): Patch => ({
      externalId: id.slice(0, 255),
      source,
      title: title.slice(0, 500),
      ...(severity && { severity: severity.slice(0, 20) }),
      ...(kind !== 'other' && { category: kind }),
      ...(version && { version: version.slice(0, 100) }),
      packageId: id.slice(0, 255),
      requiresReboot: rebootRequired,
    }),
  );
  return pending && { source, pending, installed: await history() };
}

interface Manager {
  program: string;
  args: readonly string[];
  /** Exit codes that say that the list is whole. */
  good: readonly number[];
  parse(text: string): Patch[];
}
const MANAGERS: readonly Manager[] = [
  {
    program: 'apt-get',
    // Without a lock, so that it blocks no other run of apt, and without changing anything.
    args: ['--simulate', '-o', 'Debug::NoLocking=true', 'dist-upgrade'],
    good: [0],
    parse: parseApt,
  },
  { program: 'dnf', args: ['--quiet', 'check-update'], good: [0, 100], parse: (text) => parseDnf(text) },
  { program: 'yum', args: ['--quiet', 'check-update'], good: [0, 100], parse: (text) => parseDnf(text) },
  {
    program: 'zypper',
    args: ['--non-interactive', '--no-refresh', '--xmlout', 'list-updates'],
    good: [0],
    parse: parseZypper,
  },
  { program: 'apk', args: ['version', '-l', '<'], good: [0], parse: parseApk },
];

/** The first package manager that is installed answers; undefined when there is none, or it fails. */
export async function linuxPatches(ask: Ask, signal: AbortSignal): Promise<Patch[] | undefined> {
  for (const { program, args, good, parse } of MANAGERS) {
    try {
      const { code, stdout } = await ask(program, args, { signal });
      return code !== null && good.includes(code) ? parse(stdout) : undefined;
    } catch (fault) {
      if (!(fault instanceof ToolError && fault.code === 'UNSUPPORTED')) throw fault;
    }
  }
  return undefined;
}

/** `Inst name [old] (new Origin:version/suite, … [arch])`; packages that would only come along have no old version. */
export function parseApt(text: string): Patch[] {
  return [...text.matchAll(/^Inst (\S+) \[[^\]]+\] \((\S+) ([^[]*)\[[^\]]*\]\)/gm)].map(([, name, version, origins]) =>
    linuxPatch('apt', name ?? '', version ?? '', /security/i.test(origins ?? '')),
  );
}

/** `name.arch  version  repository`, possibly wrapped; what follows "Obsoleting Packages" is no update. */
export function parseDnf(text: string): Patch[] {
  const [list = ''] = text.split(/^Obsoleting Packages$/m);
  const unwrapped = list.replaceAll(/\n[ \t]+/g, ' ');
  return [...unwrapped.matchAll(/^(\S+)\.(\w+)\s+(\S+)\s+(\S+)\s*$/gm)].map(([, name, , version, repository]) =>
    linuxPatch('rpm', name ?? '', version ?? '', /security/i.test(repository ?? '')),
  );
}

/** `<update name="…" edition="…" …>` elements. */
export function parseZypper(text: string): Patch[] {
  return [...text.matchAll(/<update\s([^>]*)>/g)].flatMap(([, attributes = '']) => {
    const of = (name: string): string | undefined => new RegExp(`(?:^|\\s)${name}="([^"]*)"`).exec(attributes)?.[1];
    const name = of('name');
    const version = of('edition');
    return name && version ? linuxPatch('rpm', name, version, /security/i.test(of('category') ?? '')) : [];
  });
}

/** `name-1.36.1-r5 < 1.36.1-r7`. */
export function parseApk(text: string): Patch[] {
  return [...text.matchAll(/^(\S+)-\d\S*-r\d+\s+<\s+(\S+)/gm)].map(([, name, version]) =>
    linuxPatch('apk', name ?? '', version ?? ''),
  );
}
