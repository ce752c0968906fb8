/** Reads one module: its manifest and the declarations in its folders. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import Joi from 'joi';
import {
  type AnyEvent,
  type AnyJob,
  type AnyJobDefinition,
  type AnyRoute,
  type AnySlot,
  type AnySubscriber,
  auditsOf,
  type Contribution,
  type KnownEvent,
  type KnownSlot,
  type Module,
  type ModuleManifest,
  nameEvent,
  nameSlot,
  type OperationExample,
} from '../contract/index.ts';
import { namedSchemasIn } from '../http/payloads/named.ts';
import { allLoaded, LoadError, type ReadFile, readDefault, readFolder } from './files.ts';

export interface LoadedModule {
  module: Module;
  folder: string;
  routes: ReadFile<AnyRoute>[];
  jobs: ReadFile<AnyJob>[];
  subscribers: ReadFile<AnySubscriber>[];
  contributions: ReadFile<Contribution>[];
  slots: (KnownSlot & { file: string })[];
  events: (KnownEvent & { file: string })[];
  migrations: string;
  /** Where the module came from, when from a module package. */
  package?: PackagePlace;
  /** Of its operations, by method and path. */
  examples: Record<string, OperationExample>;
}
export interface PackagePlace {
  name: string;
  /** What the names that it makes begin with. */
  prefix: string;
}

export const manifestOf = (folder: string): string | undefined =>
  ['index.ts', 'index.js'].map((name) => join(folder, name)).find((file) => existsSync(file));

async function readExamples(folder: string): Promise<Record<string, OperationExample>> {
  const file = join(folder, 'examples.json');
  if (!existsSync(file)) return {};
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Record<string, OperationExample>;
  } catch (error) {
    throw new LoadError(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** The values of files that export one declaration or a list of them. Throws LoadError for what is neither. */
function flat<T extends object>(found: readonly ReadFile<T | T[]>[]): ReadFile<T>[] {
  return found.flatMap(({ value, ...where }) => {
    const list = [value].flat() as T[];
    if (list.some((one) => typeof one !== 'object' || one === null)) {
      throw new LoadError(`${where.file} must export a declaration or a list of them as its default`);
    }
    return list.map((one) => ({ ...where, value: one }));
  });
}

async function readRoutes(folder: string): Promise<ReadFile<AnyRoute>[]> {
  const found = await readFolder<AnyRoute[]>(join(folder, 'routes'));
  const odd = found.find(({ value }) => !Array.isArray(value));
  if (odd) throw new LoadError(`${odd.file} must export a list of routes as its default`);
  return flat(found);
}

/** Names each job by its path: `patches/scan` below `jobs/` of the module `software` is `software/patches/scan`. */
async function readJobs(folder: string, module: string): Promise<ReadFile<AnyJob>[]> {
  const found = await readFolder<AnyJobDefinition>(join(folder, 'jobs'));
  return found.map(({ file, name: path, value }) => {
    const name = `${module}/${path}`;
    if (value.name !== undefined && value.name !== name) {
      throw new LoadError(`${file}: the job is named ${value.name}, not ${name}`);
    }
    return { file, name: path, value: { payload: Joi.object({}), ...value, name } };
  });
}

/** Slots that the module opens, named by their paths. */
async function readSlots(folder: string, module: string): Promise<LoadedModule['slots']> {
  const found = await readFolder<AnySlot>(join(folder, 'slots'));
  return found.map(({ file, name: path, value }) => {
    if ('slot' in value) throw new LoadError(`${file} contributes to a slot: move it into fills/`);
    const name = value.name ?? `${module}.${path.replaceAll('/', '.')}`;
    nameSlot(value, name);
    return { name, module, definition: value, file };
  });
}

/** Contributions to the slots of other modules and of core: each file bears the name of its slot. */
async function readFills(folder: string): Promise<LoadedModule['contributions']> {
  const found = flat(await readFolder<Contribution | Contribution[]>(join(folder, 'fills')));
  for (const { file, name, value } of found) {
    if (name !== value.slot && !name.startsWith(`${value.slot}/`)) {
      throw new LoadError(`${file} contributes to ${value.slot}: name the file or its folder after the slot`);
    }
  }
  return found;
}

/** Names each event by its path: `command/finished` below `events/` of `devices` is `devices.command.finished`. */
async function readEvents(folder: string, module: string): Promise<LoadedModule['events']> {
  const found = await readFolder<AnyEvent>(join(folder, 'events'));
  return found.map(({ file, name: path, value }) => {
    const name = `${module}.${path.replaceAll('/', '.').replaceAll('-', '_')}`;
    nameEvent(value, name);
    return { name, module, definition: value, file };
  });
}

function schemasOf(routes: LoadedModule['routes'], folder: string): Record<string, Joi.Schema> {
  const parts = routes.flatMap(({ value: { params, query, payload, response, answers = {} } }) => [
    params,
    query,
    payload,
    response,
    ...Object.values(answers),
  ]);
  return namedSchemasIn(
    parts.filter((part) => Joi.isSchema(part)),
    (name) => {
      throw new LoadError(`${folder}: two schemas are named ${name}`);
    },
  );
}

/** The manifest with the permissions, audit actions and named schemas of the routes. */
function completed(
  { auditOnly = [], ...manifest }: ModuleManifest,
  routes: LoadedModule['routes'],
  folder: string,
): Module {
  const derived = ['permissions', 'audits', 'events', 'slots'].find((name) => name in manifest);
  if (derived) throw new LoadError(`${folder}: leave out ${derived}, which follow from the other declarations`);
  const required = routes.flatMap(({ value: { access } }) =>
    access && 'permission' in access && access.permission ? [access.permission] : [],
  );
  const recorded = routes.flatMap(({ value }) => auditsOf(value));
  return {
    ...manifest,
    schemas: { ...manifest.schemas, ...schemasOf(routes, folder) },
    permissions: [...new Set([...required])],
    audits: [...new Set([...recorded, ...auditOnly])],
  };
}

/** Imports the manifest and all declarations of the module. Throws LoadError with every fault in its files. */
export async function readModule(folder: string, name = basename(folder)): Promise<LoadedModule> {
  const rooms = {
    manifest: readDefault<ModuleManifest>(manifestOf(folder) ?? join(folder, 'index.js')),
    routes: readRoutes(folder),
    jobs: readJobs(folder, name),
    subscribers: readFolder<AnySubscriber>(join(folder, 'subscribers')),
    slots: readSlots(folder, name),
    fills: readFills(folder),
    events: readEvents(folder, name),
    examples: readExamples(folder),
  };
  await allLoaded<unknown>(Object.values(rooms));
  const module = completed(await rooms.manifest, await rooms.routes, folder);
  if (module.name !== name) throw new LoadError(`${manifestOf(folder)} is named ${module.name}, not ${name}`);
  return {
    module,
    folder,
    routes: await rooms.routes,
    jobs: await rooms.jobs,
    subscribers: await rooms.subscribers,
    slots: await rooms.slots,
    contributions: await rooms.fills,
    events: await rooms.events,
    migrations: join(folder, 'migrations'),
    examples: await rooms.examples,
  };
}
