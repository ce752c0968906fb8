/** Which module owns each table, read from the migrations, and which other modules name it in their SQL. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { ROOT } from './files.ts';

/**
 * Uses of another module's tables, as 'user > table', each with the reason. Besides these a module names its own tables, those of
 * core, and `devices`: it may read `devices` and refer to it by a foreign key.
 */
const REASONS: Record<string, string> = {
  'agent-versions > device_commands':
    'the group commit that offers an update leaves out devices with a command in progress',
  'agent-versions > device_state': 'counts and follows devices by the installed versions of agent and watchdog',
  'plugins > schedules (write)': 'a migration moved its own schedules there',
  'device-groups > devices (trigger)':
    'marks devices for evaluation whatever code path changes them, in the same transaction',
  'device-groups > device_state (trigger)': 'the same, for fields of filters that heartbeats report',
  'device-groups > device_hardware (trigger)': 'the same, for fields of filters about hardware',
  'device-groups > device_network_interfaces (trigger)': 'the same, for fields of filters about the network',
  'device-groups > device_software (trigger)': 'the same, for fields of filters about software',
};
/** The only tables of a module that every module may read and refer to. */
const OPEN_TO_READ = ['devices'];

interface Use {
  owner: string;
  table: string;
  kind: 'read' | 'write' | 'key' | 'trigger';
  path: string;
}

const CREATED = /\bcreate\s+(?:unlogged\s+)?table\s+(?:if\s+not\s+exists\s+)?(?!if\b)([a-z_]+)/g;
const KINDS: [RegExp, Use['kind']][] = [
  [/\b(?:from|join)\s+(?:only\s+)?([a-z_]+)\b/g, 'read'],
  [/\b(?:update|insert\s+into|delete\s+from|truncate|alter\s+table)\s+(?:only\s+)?([a-z_]+)\b/g, 'write'],
  [/\breferences\s+([a-z_]+)\b/g, 'key'],
  [/\bcreate\s+trigger\s[^;]*?\son\s+([a-z_]+)\b/g, 'trigger'],
];

const withoutComments = (path: string, text: string): string =>
  path.endsWith('.sql')
    ? text.replace(/--[^\n]*/g, '')
    : text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/[^\n]*/g, '$1');

/** The folder of a module is its name; core is everything else. */
const ownerOf = (path: string): string => (path.startsWith('modules/') ? (path.split('/')[2] ?? '') : 'core');

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts', '*.sql'], {
  cwd: ROOT,
})
  .toString()
  .split('\n')
  .filter((path) => /^(core|workers|app|migrations|modules)\//.test(path) && path !== 'migrations/schema.sql')
  .filter((path) => !/(^|\/)test\//.test(path))
  .map((path) => ({ path, owner: ownerOf(path), sql: withoutComments(path, readFileSync(join(ROOT, path), 'utf8')) }));

function tableOwners(): Map<string, string> {
  const owners = new Map<string, string>();
  for (const { path, owner, sql } of files) {
    if (!path.endsWith('.sql')) continue;
    for (const [, table = ''] of sql.matchAll(CREATED)) {
      owners.set(table, owner);
    }
  }
  return owners;
}

const owners = tableOwners();

/** Uses of tables that belong to another module; core's tables are open to all. */
function foreignUses(): Use[] {
  return files.flatMap(({ path, owner, sql }) =>
    KINDS.flatMap(([pattern, kind]) =>
      [...sql.matchAll(pattern)]
        .map(([, table = '']) => ({ owner, table, kind, path }))
        .filter(({ table }) => !['core', owner, undefined].includes(owners.get(table))),
    ),
  );
}

test('every table is created once, by core or by one module', (t) => {
  t.true(owners.size > 90);
  const created = files.flatMap(({ path, sql }) =>
    path.endsWith('.sql') ? [...sql.matchAll(CREATED)].map(([, table]) => table) : [],
  );
  t.deepEqual(
    created.filter((table, at) => created.indexOf(table) !== at),
    [],
  );
});

test('a module names only its own tables, those of core and devices, unless a reason is written down', (t) => {
  const key = ({ owner, table, kind }: Use) =>
    kind === 'read' ? `${owner} > ${table}` : `${owner} > ${table} (${kind})`;
  const found = foreignUses().filter(
    ({ table, kind }) => !(OPEN_TO_READ.includes(table) && (kind === 'read' || kind === 'key')),
  );
  t.deepEqual(
    found.filter((use) => !(key(use) in REASONS)),
    [],
  );
  const known = new Set(found.map(key));
  for (const entry of Object.keys(REASONS)) t.true(known.has(entry), `${entry} is listed, but no longer there`);
});

test('core names no table of a module, but reads devices in reach()', (t) => {
  // Rows about a device carry no site of their own, so a limit to sites has to ask the device.
  const isReach = ({ path, table, kind }: Use) =>
    path === 'core/database/reach.ts' && table === 'devices' && kind === 'read';
  t.deepEqual(
    foreignUses().filter((use) => use.owner === 'core' && !isReach(use)),
    [],
  );
});
