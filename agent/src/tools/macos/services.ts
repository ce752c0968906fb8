/** Services of macOS: the jobs of launchd. */

import type { ServiceDetail } from '#agent-protocol';
import type { Ask } from '../../process/ask.ts';
import { type Services, ToolError } from '../contract.ts';
import { matches, pageOf } from '../paging.ts';
import { checkLabel, isLabel, type Printed, statusOf } from './launchctl.ts';
import { type Launchd, launchd } from './launchd.ts';

/** As the install script names it. */
const OWN_LABEL = 'quartermaster.agent';
/** Each job's details take one call of launchctl; this many run at a time. */
const AT_ONCE = 8;

/** `own` are the pids of the agent: the job behind one of them is not stopped. */
export function macosServices(
  ask: Ask,
  jobs: Launchd = launchd(ask),
  own: readonly number[] = [process.pid, process.ppid],
): Services {
  return {
    async list(query, signal) {
      const { services, loaded } = await summaries(jobs, signal);
      const found = services.filter(
        ({ name, status }) => matches(query.search, name) && (query.status ?? status) === status,
      );
      const { items, total } = pageOf(
        found.sort((a, b) => a.name.localeCompare(b.name, 'en')),
        query,
      );
      return { items: await withDetails(jobs, items, loaded, signal), total };
    },
    get: (name, signal) => findService(jobs, name, signal),
    async change(name, verb, signal) {
      const before = await findService(jobs, name, signal);
      if (verb === 'start') {
        if (before.status === 'running') return { name, status: 'running', note: 'The service ran already' };
        await jobs.start(name, false, signal);
        return { name, status: await jobs.settled(name, signal) };
      }
      const printed = await jobs.print(name, signal);
      if (name === OWN_LABEL || (printed?.pid && own.includes(printed.pid))) {
        throw new ToolError('PROTECTED', `${name} is the service of the agent`);
      }
      if (verb === 'stop') {
        if (!printed) return { name, status: 'stopped', note: 'The service was stopped already' };
        await jobs.unload(name, signal);
        return { name, status: 'stopped' };
      }
      await jobs.start(name, true, signal);
      return { name, status: await jobs.settled(name, signal) };
    },
  };
}

/** Every loaded or defined job with what the lists of launchd say about it, and the labels of the loaded ones. */
async function summaries(
  jobs: Launchd,
  signal: AbortSignal,
): Promise<{ services: ServiceDetail[]; loaded: ReadonlySet<string> }> {
  const [loaded, disabled, files] = await Promise.all([
    jobs.jobs(signal),
    jobs.disabled(signal),
    jobs.definitions(signal),
  ]);
  const labels = new Set([...loaded.keys(), ...files.keys()]);
  const services = [...labels].map((label) => ({
    ...unloadedService(label, files.get(label) ?? null, disabled.has(label)),
    status: loaded.get(label)?.pid ? ('running' as const) : ('stopped' as const),
  }));
  return { services, loaded: new Set(loaded.keys()) };
}

/** The services of one page, the loaded ones with the details that launchd prints. */
async function withDetails(
  jobs: Launchd,
  items: readonly ServiceDetail[],
  loaded: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<ServiceDetail[]> {
  const detailed = async (item: ServiceDetail): Promise<ServiceDetail> => {
    if (!isLabel(item.name) || !loaded.has(item.name)) return item;
    return (await loadedService(jobs, item.name, item.startType === 'disabled', signal)) ?? item;
  };
  const described: ServiceDetail[] = [];
  for (let from = 0; from < items.length; from += AT_ONCE) {
    described.push(...(await Promise.all(items.slice(from, from + AT_ONCE).map(detailed))));
  }
  return described;
}

async function findService(jobs: Launchd, label: string, signal: AbortSignal): Promise<ServiceDetail> {
  const disabled = (await jobs.disabled(signal)).has(checkLabel(label));
  const found = await loadedService(jobs, label, disabled, signal);
  if (found) return found;
  const path = (await jobs.definitions(signal)).get(label);
  if (path === undefined) throw new ToolError('NOT_FOUND', `There is no service ${label}`);
  return unloadedService(label, path, disabled);
}

/** Undefined when no such job is loaded. */
async function loadedService(
  jobs: Launchd,
  label: string,
  disabled: boolean,
  signal: AbortSignal,
): Promise<ServiceDetail | undefined> {
  const printed = await jobs.print(label, signal);
  return printed && toService(label, printed, disabled);
}

function unloadedService(name: string, path: string | null, disabled: boolean): ServiceDetail {
  return {
    name,
    displayName: null,
    status: 'stopped',
    startType: disabled ? 'disabled' : null,
    account: null,
    description: null,
    path,
    dependencies: [],
  };
}

function toService(label: string, printed: Printed, disabled: boolean): ServiceDetail {
  const { properties } = printed;
  const auto = properties.includes('keepalive') || properties.includes('runatload');
  return {
    name: label,
    displayName: null,
    status: statusOf(printed),
    startType: disabled ? 'disabled' : auto ? 'auto' : 'manual',
    account: printed.username,
    description: null,
    path: printed.program ?? printed.path,
    dependencies: [],
  };
}
