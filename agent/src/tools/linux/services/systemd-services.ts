/** Services under systemd. */
import { readFile } from 'node:fs/promises';
import type { ServiceDetail } from '#agent-protocol';
import { systemdStart, systemdState } from '../../../collect/services.ts';
import { ToolError } from '../../contract.ts';
import { pageOf } from '../../paging.ts';
import type { Ask } from '../ask.ts';
import { changeUnit, commandOf, showUnits, type Unit, unitNames } from '../units.ts';
import { isWanted, type Manager } from './service-manager.ts';

const SUFFIX = '.service';
const BRIEF = ['Id', 'Description', 'LoadState', 'ActiveState'];
const FULL = [...BRIEF, 'UnitFileState', 'User', 'ExecStart', 'Requires'];
const MOST_DEPENDENCIES = 100;

export function systemdServices(ask: Ask): Manager {
  return {
    async list(query, signal) {
      const names = await unitNames('service', ask, signal);
      const brief = distinct(await showUnits(names, BRIEF, ask, signal)).filter((service) => isWanted(service, query));
      const { items, total } = pageOf(brief, query);
      // Only what is shown is asked for in full: a server has hundreds of units.
      const full = await showUnits(
        items.map(({ name }) => name + SUFFIX),
        FULL,
        ask,
        signal,
      );
      return { items: distinct(full), total };
    },
    async get(name, signal) {
      const [unit] = await showUnits([name.endsWith(SUFFIX) ? name : name + SUFFIX], FULL, ask, signal);
      const detail = unit && toService(unit);
      if (!detail) throw new ToolError('NOT_FOUND', `there is no service ${name}`);
      return detail;
    },
    change: (name, verb, signal) => changeUnit([verb], name + SUFFIX, ask, signal),
    async own() {
      return ownUnits(await readFile('/proc/self/cgroup', 'utf8').catch(() => ''));
    },
  };
}

/** Several names of one unit show the same unit. */
function distinct(units: readonly Unit[]): ServiceDetail[] {
  const services = units.map(toService).filter((service) => service !== undefined);
  return [...new Map(services.map((service) => [service.name, service])).values()];
}

/** Undefined for a unit that others only mention. */
export function toService(unit: Unit): ServiceDetail | undefined {
  const id = unit.get('Id');
  if (!id || unit.get('LoadState') === 'not-found') return undefined;
  const description = unit.get('Description') || null;
  return {
    name: id.endsWith(SUFFIX) ? id.slice(0, -SUFFIX.length) : id,
    displayName: description === id ? null : description,
    status: systemdState(unit.get('ActiveState') ?? ''),
    startType: (unit.get('LoadState') === 'masked' ? 'disabled' : systemdStart(unit.get('UnitFileState'))) ?? null,
    account: unit.get('User') || 'root',
    description,
    path: commandOf(unit)?.line ?? null,
    dependencies: (unit.get('Requires') ?? '').split(' ').filter(Boolean).slice(0, MOST_DEPENDENCIES),
  };
}

/** The services in whose control group the agent runs, from /proc/self/cgroup. */
export function ownUnits(cgroup: string): string[] {
  return [...cgroup.matchAll(/\/([^/\n]+)\.service(?=\/|$)/gm)].flatMap(([, name]) => name ?? []);
}
