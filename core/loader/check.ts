/** What a module declares must hold together before anything starts; every fault names its file. */
import Joi from 'joi';
import { type AnyRoute, auditsOf } from '../contract/index.ts';
import { keysOf } from '../http/schema-parts.ts';
import { checkSchedule } from '../jobs/schedule.ts';
import { ROUTE_PAIRS } from '../tenancy/permissions.ts';
import { unboundedFields } from './bounds.ts';
import { LoadError, type LoadedModule, manifestOf } from './discover.ts';

const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
const CORE_SLOTS = ['admin.command', 'auth.agent', 'events.outbox', 'http.socket'];
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
  const undeclared = auditsOf(route).find((action) => !module.audits.includes(action));
  if (undeclared) return `its audit action ${undeclared} is not declared in the manifest`;
  if ('permission' in route.access && route.access.permission) {
    const { permission } = route.access;
    if (!ROUTE_PAIRS.has(permission)) return `the permission ${permission} does not exist`;
    if (!module.permissions.includes(permission)) return `the permission ${permission} is not declared in the manifest`;
  }
  if ('permission' in route.access && route.access.permission === null && !route.access.why) {
    return 'access without a permission needs a reason (why)';
  }
  // Agents' bodies are cut and never refused ; the route's maxBytes bounds them.
  if (route.payload && !('agent' in route.access) && (route.maxBytes ?? Number.POSITIVE_INFINITY) > SMALL_BYTES) {
    const open = unboundedFields(route.payload);
    if (open.length > 0) return `nothing bounds ${open.join(', ')} of its payload: give a max, or openObject()`;
  }
  const named = [...route.path.matchAll(/\{(\w+)[?*]?\d*\}/g)].map((match) => match[1]);
  const declared = keysOf(route.params);
  if (named.some((name) => !declared.includes(name ?? ''))) return 'its params schema does not cover the path';
  return null;
}

const pathKey = ({ method, path }: AnyRoute) => `${method} ${path.replace(/\{\w+/g, '{')}`;

/**
 * Throws LoadError for the first fault.
 * @param others modules that were checked before or will be: their paths are taken, their slots and events are there
 */
export function checkModules(modules: LoadedModule[], others: LoadedModule[] = []): void {
  const all = [...modules, ...others];
  const paths = new Map(others.flatMap(({ routes }) => routes.map(({ file, value }) => [pathKey(value), file])));
  const slots = new Set([...CORE_SLOTS, ...all.flatMap((loaded) => loaded.module.slots ?? [])]);
  const events = new Set(all.flatMap((loaded) => loaded.module.events ?? []));
  const optional = new Set(all.filter(({ module }) => !module.core).map(({ module }) => module.name));
  for (const loaded of modules) {
    const { module } = loaded;
    const leaning = module.core ? module.requires.find((name) => optional.has(name)) : undefined;
    if (leaning) {
      throw new LoadError(`${manifestOf(loaded.folder)} cannot be switched off, but requires ${leaning}, which can be`);
    }
    for (const { file, value } of loaded.routes) {
      const fault = routeFault(value, loaded);
      if (fault) throw new LoadError(`${file}: ${value.method} ${value.path}: ${fault}`);
      const key = pathKey(value);
      const other = paths.get(key);
      if (other) throw new LoadError(`${file}: ${key} is also declared in ${other}`);
      paths.set(key, file);
    }
    for (const { file, name, value } of loaded.jobs) {
      const expected = `${module.name}/${name}`;
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
