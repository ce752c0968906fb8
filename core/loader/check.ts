/** What a module declares must hold together before anything starts; every fault names its file. */
import Joi from 'joi';
import type { AnyRoute } from '../contract.ts';
import { checkSchedule } from '../jobs/schedule.ts';
import { ROUTE_PAIRS } from '../tenancy/permissions.ts';
import { unboundedFields } from './bounds.ts';
import { LoadError, type LoadedModule } from './discover.ts';

const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
const CORE_SLOTS = ['auth.agent', 'http.socket'];
/** A body this small may leave its parts open: the whole is the bound. */
const SMALL_BYTES = 65_536;

function routeFault(route: AnyRoute, loaded: LoadedModule): string | null {
  const { module } = loaded;
  if (!METHODS.has(route.method)) return `method ${route.method}`;
  if (!route.path?.startsWith('/')) return 'its path does not begin with /';
  if (!route.summary) return 'it has no summary';
  if (!route.access) return 'it has no access';
  if (!Joi.isSchema(route.response)) return 'it has no response schema';
  if (typeof route.handler !== 'function') return 'it has no handler';
  if (route.method !== 'GET' && !route.audit) return 'a write must name its audit action, or say why there is none';
  if (typeof route.audit === 'string' && !module.audits.includes(route.audit)) {
    return `its audit action ${route.audit} is not declared in the manifest`;
  }
  if ('permission' in route.access && route.access.permission) {
    const { permission } = route.access;
    if (!ROUTE_PAIRS.has(permission)) return `the permission ${permission} does not exist`;
    if (!module.permissions.includes(permission)) return `the permission ${permission} is not declared in the manifest`;
  }
  if ('permission' in route.access && route.access.permission === null && !route.access.why) {
    return 'access without a permission needs a reason (why)';
  }
  // Agents' bodies are cut and never refused (domain/agents, section 4); the route's maxBytes bounds them.
  if (route.payload && !('agent' in route.access) && (route.maxBytes ?? Number.POSITIVE_INFINITY) > SMALL_BYTES) {
    const open = unboundedFields(route.payload);
    if (open.length > 0) return `nothing bounds ${open.join(', ')} of its payload: give a max, or openObject()`;
  }
  const named = [...route.path.matchAll(/\{(\w+)[?*]?\d*\}/g)].map((match) => match[1]);
  const declared = route.params ? Object.keys((route.params.describe().keys ?? {}) as object) : [];
  if (named.some((name) => !declared.includes(name ?? ''))) return 'its params schema does not cover the path';
  return null;
}

/** Throws LoadError for the first fault. */
export function checkModules(modules: LoadedModule[]): void {
  const paths = new Map<string, string>();
  const slots = new Set([...CORE_SLOTS, ...modules.flatMap((loaded) => loaded.module.slots ?? [])]);
  const events = new Set(modules.flatMap((loaded) => loaded.module.events ?? []));
  for (const loaded of modules) {
    const { module } = loaded;
    for (const { file, value } of loaded.routes) {
      const fault = routeFault(value, loaded);
      if (fault) throw new LoadError(`${file}: ${value.method} ${value.path}: ${fault}`);
      const key = `${value.method} ${value.path.replace(/\{\w+/g, '{')}`;
      const other = paths.get(key);
      if (other) throw new LoadError(`${file}: ${key} is also declared in ${other}`);
      paths.set(key, file);
    }
    for (const { file, value } of loaded.jobs) {
      const expected = `${module.name}/${file.split('/').at(-1)?.replace(/\.ts$/, '')}`;
      if (value.name !== expected) throw new LoadError(`${file}: the job is named ${value.name}, not ${expected}`);
      const fault = checkSchedule({ module: module.name, job: value });
      if (fault) throw new LoadError(`${file}: ${fault}`);
    }
    for (const { file, value } of loaded.subscribers) {
      if (!events.has(value.on)) throw new LoadError(`${file}: no module declares the event ${value.on}`);
    }
    for (const { file, value } of loaded.fillings) {
      if (!slots.has(value.slot)) throw new LoadError(`${file}: no module declares the slot ${value.slot}`);
    }
  }
}
