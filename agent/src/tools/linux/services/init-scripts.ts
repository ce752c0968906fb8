/** Services as scripts in /etc/init.d, on systems and in containers where systemd does not run. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { ServiceDetail } from '#agent-protocol';
import { ToolError } from '../../contract.ts';
import { pageOf } from '../../paging.ts';
import { type Ask, complaintOf } from '../ask.ts';
import { isWanted, type Manager } from './service-manager.ts';

/** What a script of the system may count on, as `service` gives it: nothing of the agent's own environment. */
const CLEAN = ['-i', 'LC_ALL=C', 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'];
const AT_ONCE = 4;
/** Not services, though they lie there. */
const NONE = /^(README|skeleton|rc|rcS|rc\.local|functions|functions\.sh|halt|reboot|single|killall)$|\.(dpkg|rpm)/;

export function initScripts(ask: Ask, root: string): Manager {
  const folder = join(root, 'etc/init.d');
  const run = (name: string, verb: string, signal: AbortSignal) =>
    ask('env', [...CLEAN, join(folder, name), verb], { signal });
  const read = async (name: string, signal: AbortSignal): Promise<ServiceDetail> => {
    const text = await readFile(join(folder, name), 'utf8').catch(() => '');
    const header = parseHeader(text);
    const code = tellsStatus(text) ? (await run(name, 'status', signal)).code : null;
    return {
      name,
      displayName: header.title,
      status: code === 0 ? 'running' : code !== null && code <= 3 ? 'stopped' : 'unknown',
      startType: (await startsByItself(root, name)) ? 'auto' : 'manual',
      account: 'root',
      description: header.description ?? header.title,
      path: join(folder, name),
      dependencies: header.requires,
    };
  };
  return {
    async list(query, signal) {
      const services: ServiceDetail[] = [];
      const names = await scripts(folder);
      for (let at = 0; at < names.length; at += AT_ONCE)
        services.push(...(await Promise.all(names.slice(at, at + AT_ONCE).map((name) => read(name, signal)))));
      return pageOf(
        services.filter((service) => isWanted(service, query)),
        query,
      );
    },
    async get(name, signal) {
      if (!(await scripts(folder)).includes(name)) throw new ToolError('NOT_FOUND', `there is no service ${name}`);
      return read(name, signal);
    },
    async change(name, verb, signal) {
      const answer = await run(name, verb, signal);
      if (answer.code === 4) throw new ToolError('DENIED', complaintOf(name, answer));
      if (answer.code !== 0) throw new Error(complaintOf(name, answer));
    },
    // Nothing tells which script started a process; those of the agent are named after it.
    own: async () => (await scripts(folder)).filter((name) => /^quartermaster-(agent|watchdog)$/.test(name)),
  };
}

/** Scripts that may be run; a name with other characters could not be asked for. */
async function scripts(folder: string): Promise<string[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => /^[\w.@:$-]+$/.test(name) && !NONE.test(name));
  const usable = await Promise.all(
    names.map(async (name) => {
      const found = await stat(join(folder, name)).catch(() => undefined);
      return found?.isFile() === true && (found.mode & 0o111) !== 0;
    }),
  );
  return names.filter((_, index) => usable[index]).sort();
}

/** Asking a script that does not know the word could start something. OpenRC knows it for all of its scripts. */
function tellsStatus(text: string): boolean {
  return /(^|\W)"?status"?(\s*\|[^)\n]*)?\)/m.test(text) || /^#!.*openrc-run/.test(text);
}

/** The comment block of the Linux Standard Base at the head of a script. */
export function parseHeader(text: string): { title: string | null; description: string | null; requires: string[] } {
  const block = /### BEGIN INIT INFO\n([\s\S]*?)### END INIT INFO/.exec(text)?.[1] ?? '';
  const field = (name: string): string | null =>
    new RegExp(`^#\\s*${name}:[ \\t]*(.*)$`, 'm').exec(block)?.[1]?.trim() || null;
  return {
    title: field('Short-Description'),
    description: field('Description'),
    // With a $ come facilities such as the network, which are no services.
    requires: (field('Required-Start') ?? '').split(/\s+/).filter((word) => word !== '' && !word.startsWith('$')),
  };
}

/** Whether a link in one of the folders of the usual run levels starts it. */
async function startsByItself(root: string, name: string): Promise<boolean> {
  for (const level of ['rc2.d', 'rc3.d', 'rc5.d', 'runlevels/default']) {
    const links = await readdir(join(root, 'etc', level)).catch(() => []);
    if (links.some((link) => basename(link).replace(/^S\d\d/, '') === name)) return true;
  }
  return false;
}
