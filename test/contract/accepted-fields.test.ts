/** Every field that the server or an agent accepts is read somewhere: what nobody reads is not asked for. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import test from 'ava';
import type Joi from 'joi';
import { HANDLERS } from '../../agent/src/commands/handlers.ts';
import { toolHandlers } from '../../agent/src/commands/tools.ts';
import { loadModules, migrationFolders, ROOT } from '../../core/loader/load.ts';
import { COMMAND_TYPES } from '../../modules/devices/device-commands/services/command-types.ts';
import * as protocol from '../../packages/agent-protocol/src/schemas/index.ts';
import { sourceFiles } from '../house/files.ts';
import { namesInMigration, namesRead } from './fixtures/read-names.ts';
import { type Schema, schemaOf } from './fixtures/sample.ts';
import { UNREAD } from './fixtures/unread-fields.ts';

const modules = await loadModules();
const byFile = new Map<string, Set<string>>(
  sourceFiles()
    .filter(({ path }) => /^(agent\/src|core|modules|packages\/[^/]+\/src|workers|app)\//.test(path))
    .filter(({ path }) => !/\/test\/|^packages\/agent-protocol\/src\/schemas\//.test(path))
    .map((file) => [file.path, namesRead(file)]),
);
for (const { owner, path } of migrationFolders(modules).filter((one) => existsSync(one.path))) {
  const folder = owner === 'core' ? 'core/migrations' : relative(ROOT, path);
  for (const file of readdirSync(path).filter((name) => /^\d{3}-.*\.sql$/.test(name)))
    byFile.set(`${folder}/${file}`, namesInMigration(readFileSync(join(path, file), 'utf8')));
}
/** Whether a file in one of these folders reads the name. */
const isRead = (name: string, folders: readonly string[]) =>
  [...byFile].some(([path, names]) => names.has(name) && folders.some((folder) => path.startsWith(`${folder}/`)));

/** The fields of a schema at any depth, with their paths. */
function fieldsOf(schema: Joi.Schema | undefined): { name: string; path: string }[] {
  const walk = (node: Schema, path: string): { name: string; path: string }[] => [
    ...Object.entries(node.properties ?? {}).flatMap(([name, inner]) => {
      const at = path ? `${path}.${name}` : name;
      return [{ name, path: at }, ...walk(inner, at)];
    }),
    ...[node.items, node.additionalProperties as Schema | undefined, ...(node.anyOf ?? []), ...(node.oneOf ?? [])]
      .filter((inner) => typeof inner === 'object')
      .flatMap((inner) => walk(inner, path)),
  ];
  return schema ? walk(schemaOf(schema) as Schema, '') : [];
}

/** The reasons that were needed; the last test refuses others. */
const used = new Set<string>();
function unread(what: string, schema: Joi.Schema | undefined, folders: readonly string[]): string[] {
  return fieldsOf(schema)
    .filter(({ name }) => !isRead(name, folders))
    .map(({ path }) => `${what}: ${path}`)
    .filter((label) => {
      const [exception] = UNREAD.filter(([fields]) => fields.test(label));
      if (exception) used.add(exception[1]);
      return !exception;
    });
}

const folderOf = new Map(modules.map(({ module, folder }) => [module.name, relative(ROOT, folder)]));
/** These hand on what they are sent. */
const ALSO_READ = new Map([
  ['system-tools body', 'agent/src'],
  ['agents settings', 'agent/src'],
  // Settings of an organization or partner are those of all modules.
  ['tenancy body', 'modules'],
  ['plugins body', 'packages/plugin-sdk/src'],
]);
/** The module, those whose functions it calls, and core, which reads what all routes have in common. */
const readersOf = ({ name, requires }: { name: string; requires: string[] }, what: 'body' | 'query' | 'settings') => [
  'core',
  ...[name, ...requires].flatMap((one) => folderOf.get(one) ?? []),
  ...[ALSO_READ.get(`${name} ${what}`)].filter((folder) => folder !== undefined),
];

for (const { module, routes } of modules) {
  test(`${module.name}: every field of a body, query or setting is read`, (t) => {
    t.deepEqual(
      [
        ...routes.flatMap(({ value: { method, path, payload, query } }) => [
          ...unread(`${method} ${path} body`, payload, readersOf(module, 'body')),
          ...unread(`${method} ${path} query`, query, readersOf(module, 'query')),
        ]),
        ...unread(`${module.name} settings`, module.settings, readersOf(module, 'settings')),
      ],
      [],
    );
  });
}

test('agents read every field that the server sends them', (t) => {
  const { heartbeatAnswer, enrolledShape, commandShape, configShape } = protocol;
  const sent = { heartbeatAnswer, enrolledShape, commandShape, configShape };
  t.deepEqual(
    Object.entries(sent).flatMap(([name, schema]) => unread(name, schema, ['agent/src'])),
    [],
  );
});

test('the server reads every field of the frames that agents send', (t) => {
  const { progressFrame, updateFrame, resultBody } = protocol;
  const agents = modules.find(({ module }) => module.name === 'agents')?.module;
  const readers = agents ? readersOf(agents, 'body') : [];
  t.deepEqual(
    Object.entries({ progressFrame, updateFrame, resultBody }).flatMap(([name, schema]) =>
      unread(name, schema, readers),
    ),
    [],
  );
});

test('agents heed every feature that a module can switch off', (t) => {
  const features = modules.flatMap(({ module }) => module.agentFeatures ?? []);
  t.true(features.length > 3);
  t.deepEqual(
    features.filter((feature) => !isRead(feature, ['agent/src'])),
    [],
  );
});

test('agents know every command that can be sent, with each field of its payload, and no other', (t) => {
  const known = new Set([...HANDLERS.keys(), ...toolHandlers(undefined).keys(), 'restart_agent', 'wake']);
  t.deepEqual(
    Object.keys(COMMAND_TYPES).filter((type) => !known.has(type)),
    [],
  );
  t.deepEqual(
    Object.entries(COMMAND_TYPES).flatMap(([type, { payload }]) => unread(type, payload, ['agent/src'])),
    [],
  );
  const owned = new Set(modules.flatMap(({ module }) => module.commands ?? []));
  const sendable = (type: string) => Object.hasOwn(COMMAND_TYPES, type) || owned.has(type) || isRead(type, ['modules']);
  t.deepEqual(
    [...known].filter((type) => !sendable(type)),
    [],
  );
});

test.after('every exception is still needed', (t) => {
  t.deepEqual(
    UNREAD.filter(([, reason]) => !used.has(reason)),
    [],
  );
});
