/** Checks that the declarations of the modules fit together before anything starts. Every fault names its file. */
import Joi from 'joi';
import { variableNames } from '#config';
import { type AnyRoute, CORE_SLOTS, type KnownEvent, nameHeard } from '../contract/index.ts';
import { keysOf } from '../http/schema-parts.ts';
import { checkSchedule } from '../jobs/schedule.ts';
import { ROUTE_PAIRS } from '../tenancy/permissions.ts';
import { unboundedFields } from './bounds.ts';
import { LoadError, throwFaults } from './files.ts';
import { type LoadedModule, manifestOf } from './read-module.ts';

const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
/** A body this small may leave its parts open: the whole is the bound. */
const SMALL_BYTES = 65_536;

function routeFault(route: AnyRoute): string | null {
  if (!METHODS.has(route.method)) return `method ${route.method}`;
  if (!route.path?.startsWith('/')) return 'its path does not begin with /';
  if (!route.summary) return 'it has no summary';
  if (!route.access) return 'it has no access';
  if (!Joi.isSchema(route.response)) return 'it has no response schema';
  if (typeof route.handler !== 'function') return 'it has no handler';
  if (route.method !== 'GET' && !route.audit) return 'a write must name its audit action, or say why there is none';
  if ('permission' in route.access && route.access.permission) {
    const { permission } = route.access;
    if (!ROUTE_PAIRS.has(permission)) return `the permission ${permission} does not exist`;
  }
  if ('permission' in route.access && route.access.permission === null && !route.access.why) {
    return 'access without a permission needs a reason (why)';
  }
  // Bodies of agents are cut and never refused; the maxBytes of the route limits them.
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

function eventFault({ definition: { summary, data, example } }: KnownEvent): string | null {
  if (!summary) return 'it has no summary';
  if (!Joi.isSchema(data)) return 'it has no data schema';
  const { error } = data.validate(example, { convert: false });
  return error ? `its example does not fit its data: ${error.message}` : null;
}

/** What the modules know of each other while they are checked. */
interface Known {
  /** The file of each route, by method and path. */
  paths: Map<string, string>;
  slots: ReadonlySet<string>;
  events: ReadonlySet<string>;
  optional: ReadonlySet<string>;
}

function* routeFaults(loaded: LoadedModule, { paths }: Known): Generator<string> {
  for (const { file, value } of loaded.routes) {
    const fault = routeFault(value);
    if (fault) yield `${file}: ${value.method} ${value.path}: ${fault}`;
    if (typeof value.path !== 'string') continue;
    const key = pathKey(value);
    const other = paths.get(key);
    if (other) yield `${file}: ${key} is also declared in ${other}`;
    paths.set(key, file);
  }
}

function* moduleFaults(loaded: LoadedModule, known: Known): Generator<string> {
  const { module } = loaded;
  const leaning = module.core ? module.requires.find((name) => known.optional.has(name)) : undefined;
  if (leaning) yield `${manifestOf(loaded.folder)} cannot be switched off, but requires ${leaning}, which can be`;
  yield* routeFaults(loaded, known);
  for (const { file, value } of loaded.jobs) {
    const fault = checkSchedule({ module: module.name, job: value });
    if (fault) yield `${file}: ${fault}`;
  }
  for (const event of loaded.events) {
    const fault = eventFault(event);
    if (fault) yield `${event.file}: ${fault}`;
  }
  for (const { file, value } of loaded.subscribers) {
    const name = nameHeard(value);
    if (!known.events.has(name)) yield `${file}: no module declares the event ${name}`;
  }
  for (const { file, value } of loaded.contributions) {
    if (!known.slots.has(value.slot)) yield `${file}: no module declares the slot ${value.slot}`;
  }
}

/** Variables that are declared twice: by two modules, or by a module and the deployment. */
function variableFaults(modules: readonly LoadedModule[], others: readonly LoadedModule[]): string[] {
  const owners = new Map(variableNames.map((name) => [name, 'the deployment']));
  const declared = (loaded: LoadedModule) => loaded.module.variables?.names ?? [];
  for (const loaded of others) for (const name of declared(loaded)) owners.set(name, loaded.module.name);
  return modules.flatMap((loaded) =>
    declared(loaded).flatMap((name) => {
      const owner = owners.get(name);
      owners.set(name, loaded.module.name);
      return owner ? [`${manifestOf(loaded.folder)}: the variable ${name} is already one of ${owner}`] : [];
    }),
  );
}

/**
 * Throws one LoadError with every fault.
 * @param others modules that are checked at another time: their paths are taken, their slots and events exist
 */
export function checkModules(modules: LoadedModule[], others: LoadedModule[] = []): void {
  const all = [...modules, ...others];
  const known: Known = {
    paths: new Map(others.flatMap(({ routes }) => routes.map(({ file, value }) => [pathKey(value), file]))),
    slots: new Set([...Object.keys(CORE_SLOTS), ...all.flatMap(({ slots }) => slots.map(({ name }) => name))]),
    events: new Set(all.flatMap(({ events }) => events.map(({ name }) => name))),
    optional: new Set(all.filter(({ module }) => !module.core).map(({ module }) => module.name)),
  };
  const faults = [...modules.flatMap((loaded) => [...moduleFaults(loaded, known)]), ...variableFaults(modules, others)];
  throwFaults(faults.map((fault) => new LoadError(fault)));
}
