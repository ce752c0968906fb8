/** What a manifest may say, and how its faults are told. */
import test from 'ava';
import {
  checkForm,
  checkManifest,
  cronFault,
  fitsApi,
  matchesFilter,
  mustBeManifest,
  withDefaults,
} from '../src/host.ts';
import type { FormSchema, Manifest } from '../src/manifest/types.ts';
import { manifest } from './manifests.ts';

const full = manifest({
  permissions: [
    { name: 'devices:read', reason: 'To name devices in tickets' },
    { name: 'http', reason: 'To reach the desk' },
    { name: 'secrets:config', reason: 'The key of the desk' },
    { name: 'tickets:write', reason: 'To open tickets' },
    { name: 'customFields:write', reason: 'To note ticket numbers' },
  ],
  egress: ['*.desk.example', { fromConfig: 'baseUrl' }],
  configSchema: {
    type: 'object',
    properties: {
      baseUrl: { type: 'string', format: 'uri' },
      apiKey: { type: 'string', 'x-secret': true, 'x-label': 'Key' },
      sites: { type: 'array', items: { type: 'string' }, maxItems: 5 },
      retries: { type: 'integer', minimum: 0, maximum: 5, default: 2 },
    },
    required: ['baseUrl', 'apiKey'],
  },
  hooks: [
    { event: 'device.offline', handler: 'onOffline', filter: { 'data.hostname': ['pc-1', 'pc-2'] }, timeoutMs: 500 },
  ],
  schedules: [{ name: 'sync', cron: '*/5 * * * *', handler: 'sync' }],
  actions: [{ name: 'open', label: 'Open a ticket', target: 'device', permission: 'devices:execute' }],
  providers: [
    {
      kind: 'collector',
      key: 'numbers',
      label: 'Numbers',
      handlers: { collect: 'collect' },
      cron: '7 * * * *',
      fields: ['ticket'],
    },
  ],
  migrations: [{ from: '^1', handler: 'migrate' }],
  dependencies: [{ slug: 'other-one', range: '>=1' }],
});

test('a manifest that says everything is one', (t) => {
  t.deepEqual(checkManifest(full), []);
  t.is(mustBeManifest(full), full);
  t.true(fitsApi(full));
  t.false(fitsApi(manifest({ engine: { api: '^2.0.0' } })));
});

const bad: [string, Partial<Manifest> | Record<string, unknown>, string, RegExp][] = [
  ['a key that nobody knows', { surprise: 1 }, 'surprise', /not known/],
  ['a slug with capitals', { slug: 'Bad' }, 'slug', /pattern/],
  ['a version that is none', { version: '1' }, 'version', /semantic/],
  ['a main file outside of the package', { main: '../index.js' }, 'main', /pattern/],
  ['an absolute main file', { main: '/etc/index.js' }, 'main', /pattern/],
  ['a capability that there is not', { permissions: [{ name: 'root', reason: 'x' }] }, 'permissions.0.name', /one of/],
  ['a capability without a reason', { permissions: [{ name: 'kv' }] }, 'permissions.0.reason', /required/],
  ['egress to everywhere', { egress: ['*'] }, 'egress.0', /./],
  ['egress to a whole top level', { egress: ['*.com'] }, 'egress.0', /./],
  ['egress to an address', { egress: ['169.254.169.254'] }, 'egress.0', /./],
  ['egress without the permission', { egress: ['api.example.com'] }, 'egress', /needs the permission http/],
  ['the permission without egress', { permissions: [{ name: 'http', reason: 'x' }] }, 'egress', /name the servers/],
  [
    'a hook without what it takes',
    { hooks: [{ event: 'alert.triggered', handler: 'x' }] },
    'hooks.0.event',
    /alerts:read/,
  ],
  [
    'a handler that every object has',
    { hooks: [{ event: 'plugin.event', handler: 'constructor' }] },
    'hooks.0.handler',
    /./,
  ],
  [
    'a schedule every minute',
    { schedules: [{ name: 'a', cron: '* * * * *', handler: 'x' }] },
    'schedules.0.cron',
    /every 5/,
  ],
  [
    'a provider that lacks an operation',
    { providers: [{ kind: 'notificationChannel', key: 'a', label: 'A', handlers: { test: 'x' } }] },
    'providers.0.handlers.send',
    /required/,
  ],
  [
    'a form with a pattern',
    { configSchema: { type: 'object', properties: { a: { type: 'string', pattern: '(a+)+$' } } } },
    'configSchema.properties.a.pattern',
    /not known/,
  ],
  [
    'a form with a prototype',
    { configSchema: { type: 'object', properties: JSON.parse('{"__proto__":{"type":"string"}}') } },
    'configSchema.properties',
    /./,
  ],
  [
    'a secret without the permission',
    { configSchema: { type: 'object', properties: { a: { type: 'string', 'x-secret': true } } } },
    'configSchema',
    /secrets:config/,
  ],
  [
    'names that are there twice',
    { actions: ['A', 'B'].map((label) => ({ name: 'x', label, target: 'org', permission: 'devices:read' })) },
    'actions.1.name',
    /twice/,
  ],
];
for (const [what, changes, path, message] of bad) {
  test(`refused: ${what}`, (t) => {
    const faults = checkManifest({ ...manifest(), ...changes });
    const found = faults.find(
      (fault) => fault.path === path || (fault.path.startsWith(path) && path.endsWith('properties')),
    );
    t.truthy(found, JSON.stringify(faults));
    t.regex(found?.message ?? '', message);
    t.throws(() => mustBeManifest({ ...manifest(), ...changes }), { message: /plugin\.json is not valid/ });
  });
}

test('a configuration is held to its form, and gets its defaults', (t) => {
  const form = full.configSchema as FormSchema;
  t.deepEqual(checkForm(form, { baseUrl: 'https://desk.example', apiKey: 'k' }), []);
  t.deepEqual(
    checkForm(form, { baseUrl: 7, more: 1 })
      .map(({ path }) => path)
      .sort(),
    ['apiKey', 'baseUrl', 'more'],
  );
  t.deepEqual(
    checkForm(undefined, { a: 1 }).map(({ path }) => path),
    ['a'],
  );
  t.deepEqual(withDefaults(form, { baseUrl: 'x' }), { baseUrl: 'x', retries: 2 });
});

test('cron lines: five fields, and five minutes between', (t) => {
  for (const line of ['0 * * * *', '*/5 * * * *', '0,30 1-5 * * 1', '59 23 31 12 6']) t.is(cronFault(line), null, line);
  for (const line of [
    '* * * * *',
    '*/4 * * * *',
    '0,58 * * * *',
    '1,2 * * * *',
    '60 * * * *',
    '0 24 * * *',
    '0 * *',
    'a * * * *',
  ]) {
    t.truthy(cronFault(line), line);
  }
});

test('a filter looks at own properties only, and all of it must hold', (t) => {
  const event = { type: 'device.offline', data: { hostname: 'pc-1', tags: ['a', 'b'] } };
  t.true(matchesFilter(undefined, event));
  t.true(matchesFilter({ 'data.hostname': ['pc-1', 'pc-2'], 'data.tags': 'b' }, event));
  t.false(matchesFilter({ 'data.hostname': 'pc-1', 'data.tags': 'c' }, event));
  t.false(matchesFilter({ 'data.constructor.name': 'Object' }, event));
});
