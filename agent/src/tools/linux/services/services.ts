/** The services of a Linux machine: systemd's where it runs, else the scripts of /etc/init.d. */
import { access } from 'node:fs/promises';
import type { ServiceChange } from '#agent-protocol';
import { type Services, ToolError } from '../../contract.ts';
import type { Ask } from '../ask.ts';
import { initScripts } from './init-scripts.ts';
import type { Manager, Verb } from './service-manager.ts';
import { systemdServices } from './systemd-services.ts';

const NAME = /^[\w .@:$][\w .@:$-]{0,255}$/;

export function linuxServices(ask: Ask, root = '/'): Services {
  const manager = async (): Promise<Manager> =>
    (await systemdRuns(root)) ? systemdServices(ask) : initScripts(ask, root);
  return {
    list: async (query, signal) => (await manager()).list(query, signal),
    get: async (name, signal) => (await manager()).get(mustBeName(name), signal),
    change: async (name, verb, signal) => change(await manager(), mustBeName(name), verb, signal),
  };
}

/** Whether systemd is what started this machine, and not only installed on it. */
export async function systemdRuns(root = '/'): Promise<boolean> {
  return access(`${root}/run/systemd/system`).then(
    () => true,
    () => false,
  );
}

async function change(manager: Manager, wanted: string, verb: Verb, signal: AbortSignal): Promise<ServiceChange> {
  const before = await manager.get(wanted, signal);
  const { name } = before;
  if (verb !== 'start' && (await manager.own()).includes(name))
    throw new ToolError('PROTECTED', `${name} is the agent itself; it is not stopped from afar`);
  if (verb === 'start' && before.status === 'running') return { name, status: 'running', note: 'it ran already' };
  if (verb === 'stop' && before.status === 'stopped')
    return { name, status: 'stopped', note: 'it was stopped already' };
  await manager.change(name, verb, signal);
  const { status } = await manager.get(name, signal);
  return { name, status, ...(verb === 'restart' && before.status === 'stopped' && { note: 'it was stopped before' }) };
}

function mustBeName(name: string): string {
  if (!NAME.test(name)) throw new ToolError('INVALID', 'this is not the name of a service');
  return name;
}
