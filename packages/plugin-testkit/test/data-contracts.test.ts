/** The contracts of reports, collectors and tools: good plugins keep them, and each mistake is named. */
import type { Plugin } from '@quartermaster/plugin-sdk';
import test from 'ava';
import { runAiToolContract, runCollectorContract, runReportTypeContract } from '../src/index.ts';
import { manifestOf, wants } from './plugins.ts';

type Handler = NonNullable<Plugin['handlers']>[string];
const columns = [{ key: 'host', label: 'Host' }];
const build: Handler = async (_input, ctx) => {
  const { data } = await ctx.api.devices.list();
  return { columns, rows: data.map(({ hostname }) => ({ host: hostname })) };
};
const report = (handler: Handler) => ({
  manifest: manifestOf({
    permissions: wants('reports:register', 'devices:read', 'devices:tag', 'kv'),
    providers: [{ kind: 'reportType', key: 'hosts', label: 'Hosts', handlers: { build: 'build' } }],
  }),
  plugin: { handlers: { build: handler } },
  devices: [{ hostname: 'pc-1' }],
  key: 'hosts',
});

test.serial('a good report keeps its contract', async (t) => {
  await t.notThrowsAsync(runReportTypeContract(report(build)));
});

const reports: [string, RegExp, Handler][] = [
  ['has a value that is no column', /rows.0.more is no column/, () => ({ columns, rows: [{ host: 'x', more: 1 }] })],
  ['nests values', /rows.0.host is not a plain value/, () => ({ columns, rows: [{ host: { a: 1 } }] })],
  ['names a column twice', /each column is there once/, () => ({ columns: [...columns, ...columns], rows: [] })],
  [
    'differs each time',
    /is the same when nothing has changed/,
    async (_input, ctx) => {
      const n = ((await ctx.kv.get('n'))?.value as number | undefined) ?? 0;
      await ctx.kv.set('n', n + 1);
      return { columns, rows: [{ host: `n${n}` }] };
    },
  ],
  [
    'takes a device for granted',
    /an organization that has nothing/,
    async (_input, ctx) => ({
      columns,
      rows: [{ host: (await ctx.api.devices.list()).data[0]?.hostname.trim() ?? fail() }],
    }),
  ],
  [
    'changes something',
    /changes nothing/,
    async (input, ctx) => {
      const { data } = await ctx.api.devices.list();
      if (data.length > 0) await ctx.api.devices.tag({ ids: data.map(({ id }) => id), add: ['reported'] });
      return build(input, ctx);
    },
  ],
];
for (const [what, fault, handler] of reports) {
  test.serial(`a report that ${what} does not keep it`, async (t) => {
    await t.throwsAsync(runReportTypeContract(report(handler)), { message: fault });
  });
}
const fail = (): never => {
  throw new TypeError('there is no device');
};

const collect: Handler = async (_input, ctx) => {
  const { data } = await ctx.api.devices.list();
  const values = [];
  for (const { id, hostname } of data) {
    const { status, body } = await ctx.http.fetch(`https://warranty.example.com/${hostname}`);
    if (status !== 200) throw new Error(`${status}`);
    values.push({ deviceId: id, fields: { warranty: JSON.parse(body).until } });
  }
  return { values };
};
const collector = (handler: Handler) => ({
  manifest: manifestOf({
    permissions: wants('customFields:write', 'devices:read', 'http'),
    egress: ['warranty.example.com'],
    providers: [
      {
        ...{ kind: 'collector' as const, key: 'warranty', label: 'Warranty', handlers: { collect: 'collect' } },
        ...{ cron: '0 4 * * *', fields: ['warranty'] },
      },
    ],
  }),
  plugin: { handlers: { collect: handler } },
  devices: [{ hostname: 'pc-1' }, { hostname: 'pc-2' }],
  customFields: [{ key: 'warranty', type: 'date' as const }, { key: 'other' }],
  key: 'warranty',
  works: (http: Parameters<NonNullable<Parameters<typeof runCollectorContract>[0]['works']>>[0]) =>
    void http.on('GET https://warranty.example.com/*', { body: { until: '2027-01-01' } }),
});

test.serial('a good collector keeps its contract', async (t) => {
  await t.notThrowsAsync(runCollectorContract(collector(collect)));
});

const collectors: [string, RegExp, Handler][] = [
  ['finds nothing', /it found nothing/, () => ({ values: [] })],
  [
    'writes what it has not declared',
    /other is not declared[\s\S]*what it finds can be written/,
    async (_input, ctx) => {
      const { data } = await ctx.api.devices.list();
      return { values: data.map(({ id }) => ({ deviceId: id, fields: { other: 'x' } })) };
    },
  ],
  [
    'invents devices',
    /there is no device/,
    () => ({ values: [{ deviceId: '0a4dd0e4-8d5b-4c44-8f5c-5d1a7f1f3c01', fields: { warranty: '2027-01-01' } }] }),
  ],
  [
    'empties what it cannot find',
    /answers 500: It must fail[\s\S]*leaves what is known where the other side does not answer/,
    async (input, ctx) => {
      const { data } = await ctx.api.devices.list();
      return Promise.resolve(collect(input, ctx)).catch(() => ({
        values: data.map(({ id }: { id: string }) => ({ deviceId: id, fields: { warranty: null } })),
      }));
    },
  ],
];
for (const [what, fault, handler] of collectors) {
  test.serial(`a collector that ${what} does not keep it`, async (t) => {
    await t.throwsAsync(runCollectorContract(collector(handler)), { message: fault });
  });
}

const tool = (handler: Handler, changes: object = {}): Parameters<typeof runAiToolContract>[0] => ({
  manifest: manifestOf({
    permissions: wants('devices:read', 'devices:tag'),
    providers: [
      {
        ...{ kind: 'aiTool' as const, key: 'find', label: 'Find', handlers: { run: 'run' } },
        description: 'Finds a device',
        inputSchema: { type: 'object' as const, properties: { name: { type: 'string' as const } } },
        ...changes,
      },
    ],
  }),
  plugin: { handlers: { run: handler } },
  devices: [{ hostname: 'pc-1' }],
  key: 'find',
  input: { name: 'pc' },
});
const tagging: Handler = async (_input, ctx) => {
  const { data } = await ctx.api.devices.list();
  return ctx.api.devices.tag({ ids: data.map(({ id }) => id), add: ['found'] });
};

test.serial('a good tool keeps its contract, and so does one that changes things and says so', async (t) => {
  await t.notThrowsAsync(runAiToolContract(tool(({ name }) => ({ name }))));
  await t.notThrowsAsync(runAiToolContract(tool(tagging, { destructive: true })));
});

test.serial(
  'a tool that changes things in silence, answers a text or does not say what it takes does not keep it',
  async (t) => {
    await t.throwsAsync(runAiToolContract(tool(tagging)), { message: /is marked destructive/ });
    await t.throwsAsync(runAiToolContract(tool(() => 'text')), { message: /answers with an object/ });
    await t.throwsAsync(runAiToolContract(tool(() => ({}), { description: undefined })), { message: /no description/ });
  },
);
