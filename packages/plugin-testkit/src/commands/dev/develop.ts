/** `plugin dev`: the plugin in a running server, loaded anew whenever its files change, with its log. */
import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { packageOf } from '../package-of.ts';
import { openFolder } from '../plugin-folder.ts';
import { checkFolder } from '../validate.ts';
import { readCredentials } from './credentials.ts';
import { DevInstallation } from './dev-installation.ts';
import { ServerSession } from './server-session.ts';

export interface DevOptions {
  server?: string | undefined;
  /** The organization; not needed where there is one only. */
  org?: string | undefined;
  /** A file with the plugin's configuration. */
  config?: string | undefined;
}
/** Editors write more than once. */
const GATHER_MS = 150;
const LOOK_MS = 1_000;
const IGNORED = /(^|[\\/])(node_modules|\.git)([\\/]|$)|\.tgz$|~$/;

/** Resolves when it is interrupted. */
export async function develop(place: string, { server, org, config }: DevOptions): Promise<number> {
  if (!server) throw new Error('plugin dev --server URL');
  const session = new ServerSession(server, readCredentials());
  const orgId = org ?? (await onlyOrganization(session));
  const given = config ? (JSON.parse(await readFile(config, 'utf8')) as Record<string, unknown>) : undefined;
  const stopping = new AbortController();
  const { signal } = stopping;
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());
  const installation = new DevInstallation(session, orgId, given);
  await Promise.all([followChanges(place, installation, signal), followLog(installation, signal)]);
  console.log('Stopped. The plugin stays installed as it is.');
  return 0;
}

async function onlyOrganization(session: ServerSession): Promise<string> {
  interface Org {
    id: string;
    name: string;
  }
  const { data } = await session.call<{ data: Org[] }>('GET', '/orgs/organizations?limit=10');
  const [first] = data;
  if (first && data.length === 1) return first.id;
  if (!first) throw new Error('There is no organization yet to run the plugin for: make one first');
  throw new Error(`Which organization? --org ID\n${data.map(({ id, name }) => `  ${id}  ${name}`).join('\n')}`);
}

async function followChanges(place: string, installation: DevInstallation, signal: AbortSignal): Promise<void> {
  let changed = true;
  let loaded: string | null = null;
  const watcher = watch(place, { recursive: true }, (_kind, name) => {
    if (!IGNORED.test(name ?? '')) changed = true;
  });
  while (!signal.aborted) {
    if (changed) {
      changed = false;
      loaded = await reload(place, installation, loaded);
    }
    await pause(GATHER_MS, undefined, { signal }).catch(() => undefined);
  }
  watcher.close();
}

/** Says what is wrong, and leaves what runs as it is. Resolves with the hash of what was tried. */
async function reload(place: string, installation: DevInstallation, before: string | null): Promise<string | null> {
  try {
    const folder = await openFolder(place);
    const { sha256 } = await packageOf(folder);
    if (sha256 === before) return before;
    await checkFolder(folder);
    // Ever higher, over restarts of this command as well.
    const made = await packageOf(folder, `${folder.manifest.version.replace(/-.*/, '')}-dev.${Date.now()}`);
    await installation.load(made);
    console.log(`${made.manifest.name} ${made.manifest.version} runs.`);
    return sha256;
  } catch (error) {
    console.error(`Not loaded:\n  ${(error as Error).message.trimStart()}`);
    return null;
  }
}

async function followLog(installation: DevInstallation, signal: AbortSignal): Promise<void> {
  let silent = false;
  while (!signal.aborted) {
    try {
      for (const { timestamp, level, hook, message, fields } of await installation.newLines())
        console.log(
          [timestamp, level, hook ? `[${hook}]` : '', message, fields ? JSON.stringify(fields) : '']
            .filter(Boolean)
            .join(' '),
        );
      silent = false;
    } catch (error) {
      if (!silent) console.error(`The log cannot be read: ${(error as Error).message}`);
      silent = true;
    }
    await pause(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}
