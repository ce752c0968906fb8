/** What a plugin finds on the harness's server: its store, devices, and what is not there. */
import test from 'ava';
import { type desk, harnessOf, wants } from './plugins.ts';

test('the key-value store has versions and the sizes of the server', async (t) => {
  const harness = harnessOf(
    {
      async go(_call, ctx) {
        const tried = async (run: () => Promise<unknown>) => run().catch((error: { code: string }) => error.code);
        return [
          await tried(() => ctx.kv.cas('a', 1, null)),
          await tried(() => ctx.kv.cas('a', 2, null)),
          await tried(() => ctx.kv.cas('a', 2, 1)),
          await tried(() => ctx.kv.set('b', 'x'.repeat(70_000))),
          await tried(() => ctx.kv.set('c', 'x'.repeat(900))),
          await tried(() => ctx.kv.list({ prefix: '', limit: 1 })),
          await tried(() => ctx.kv.list({ after: 'a' })),
          await tried(() => ctx.kv.delete('a')),
        ];
      },
    },
    { permissions: wants('kv') },
    { limits: { kvBytes: 500 } },
  );
  t.deepEqual(await harness.invoke('go'), [
    ...[{ value: 1, version: 1 }, 'CONFLICT', { value: 2, version: 2 }, 'TOO_LARGE', 'QUOTA_EXCEEDED'],
    ...[[{ key: 'a', value: 2, version: 2 }], [], true],
  ]);
  t.deepEqual(harness.kv.values, {});
});

test('devices, tags and custom fields are those of the test', async (t) => {
  const harness = harnessOf(
    {
      async go(call, ctx) {
        const { id } = call.target;
        await ctx.api.devices.tag({ ids: [id], add: ['  Hot   Spot '], remove: ['old'] });
        await ctx.api.customFields.set(id, { warranty: '2027-01-31' });
        const wrong = await ctx.api.customFields.set(id, { unknown: 1 }).catch((error: { code: string }) => error.code);
        const { data } = await ctx.api.devices.list({ tag: 'hot spot' });
        return {
          wrong,
          tags: data[0]?.tags,
          fields: await ctx.api.customFields.get(id),
          all: await ctx.api.customFields.list(),
        };
      },
    },
    {
      permissions: wants('devices:read', 'devices:tag', 'customFields:read', 'customFields:write'),
      actions: [{ name: 'go', label: 'Go', target: 'device', permission: 'devices:read' }],
    },
    { devices: [{ hostname: 'pc-1', tags: ['old'] }], customFields: [{ key: 'warranty', type: 'date' }] },
  );
  const [device] = harness.devices;
  t.deepEqual(await harness.invoke('go', { targetId: device?.id ?? '' }), {
    ...{ wrong: 'INVALID_PARAMS', tags: ['hot spot'], fields: { warranty: '2027-01-31' } },
    all: [{ key: 'warranty', name: 'warranty', type: 'date' }],
  });
  t.like(device, { tags: ['hot spot'], customFields: { warranty: '2027-01-31' } });
  t.like(await t.throwsAsync(harness.invoke('go')), { code: 'INVALID_PARAMS' });
  t.like(await t.throwsAsync(harness.invoke('go', { targetId: 'x' })), { code: 'NOT_FOUND' });
});

test('what the server has nothing behind is not available, and is there where the test brings it', async (t) => {
  const manifest = { permissions: wants('alerts:create', 'alerts:update') };
  const id = '7f1f5a5e-2c56-4a5c-9d6e-0f4f4e6f9b01';
  const go = (_call: unknown, ctx: Parameters<NonNullable<typeof desk.handlers>[string]>[1]) =>
    ctx.api.alerts.create({ deviceId: id, title: 'Hot', severity: 'high' });
  t.like(await t.throwsAsync(harnessOf({ go }, manifest).invoke('go')), { code: 'NOT_AVAILABLE' });
  const harness = harnessOf({ go }, manifest, { alerts: [] });
  await harness.invoke('go');
  t.like(harness.alerts[0], { title: 'Hot', status: 'open' });
});
