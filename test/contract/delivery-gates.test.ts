/** Nothing is sent for a tenant that has the sending module switched off: for every delivery queue of every module. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { runUnitOfWork } from '#core/work';
import { startTestPlatform, switchModule, systemUser, tenant, within } from '#test';
import { EVERYWHERE, NOBODY } from '../../core/context/index.ts';
import { attempt } from '../../core/delivery/attempt.ts';
import { gateOf } from '../../core/delivery/gate.ts';
import { QueueStore } from '../../core/delivery/store.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());
const { modules, tasks } = platform.platform;
const { work, log } = tasks;
const queues = modules.flatMap(({ module }) => (module.deliveries ?? []).map((queue) => ({ module, queue })));
const start = { log, services: work.services } as Parameters<typeof attempt>[0];
const asPlatform = runUnitOfWork.bind(null, work, {
  actor: NOBODY,
  scope: EVERYWHERE,
  requestId: 'test',
  log,
  role: 'platform',
});

test('there are queues, and each names every column of a tenant that its table has', async (t) => {
  t.true(queues.length >= 4);
  for (const { queue } of queues) {
    const rows = await platform.sql<{ name: string }>(
      `select column_name as name from information_schema.columns
       where table_name = $1 and column_name in ('org_id', 'partner_id', 'tenant_id') order by 1`,
      [queue.table],
    );
    const all = rows.map(({ name }) => name);
    t.deepEqual([...(queue.tenants ?? ['org_id'])].sort(), all, queue.name);
  }
});

test('operators see every queue: its module contributes to /admin/jobs/domain-queues', async (t) => {
  const { token } = await systemUser(platform);
  const { body } = await platform.call<{ data: { name: string; module: string }[] }>(
    'GET',
    '/admin/jobs/domain-queues?limit=100',
    { token },
  );
  for (const { module, queue } of queues) {
    const loaded = modules.find((one) => one.module === module);
    const names = (loaded?.contributions ?? [])
      .filter(({ value }) => value.slot === 'queue.domain-queue')
      .map(({ value }) => (value.value as { name: string }).name);
    t.true(names.length > 0, `${queue.name}: ${module.name} contributes no queue.domain-queue`);
    for (const name of names)
      t.true(
        body.data.some((row) => row.name === name),
        `${name} is shown`,
      );
  }
});

for (const { module, queue } of queues) {
  test.serial(
    `${queue.name}: a claimed message is not sent where ${module.name} is off by now, and no attempt counts`,
    async (t) => {
      const at = await tenant(platform);
      const calls: string[] = [];
      const spied = {
        ...queue,
        send: async (_: unknown, { id }: { id: string }) => {
          calls.push(id);
          return { result: 'delivered' as const };
        },
      };
      const gate = gateOf(work.services.modules, module.name);
      const never = new AbortController().signal;
      const send = (tenants: string[]) => {
        const message = {
          id: randomUUID(),
          lease: randomUUID(),
          receiver: 'r',
          attempts: 0,
          tenants,
        };
        return attempt(start, spied, gate, message, never);
      };
      t.is((await send([at.orgId])).status, 'delivered');
      await switchModule(platform, at, module.name, false);
      t.is((await send([at.orgId])).status, 'released');
      t.is((await send([at.partnerId])).status, 'delivered', 'what belongs to the partner is sent');
      await switchModule(platform, at, module.name, true);
      t.is((await send([at.orgId])).status, 'delivered');
      const body = { enabled: false, cascade: true };
      const { status } = await platform.call('PATCH', `/modules/partner/${module.name}`, {
        token: at.partner.token,
        body,
      });
      t.is(status, 200);
      t.true(await within(5000, () => gate.closed()?.includes(at.partnerId) === true));
      for (const id of [at.orgId, at.partnerId]) t.is((await send([id])).status, 'released');
      t.is(calls.length, 3);
    },
  );

  test.serial(`${queue.name}: its statements run, and claim nothing where ${module.name} is off for all`, async (t) => {
    const modules = {
      off: () => 'disabled_by_instance',
      orgsWithout: () => [],
      partnersWithout: () => [],
    };
    const room = { free: 10, othersFree: 10, quick: [] };
    const known = new QueueStore(queue, gateOf(work.services.modules, module.name));
    const closed = new QueueStore(queue, gateOf(modules, module.name));
    t.deepEqual(await asPlatform((ctx) => closed.claim(ctx, room)), {
      send: [],
      more: false,
    });
    await asPlatform(async (ctx) => {
      await known.claim(ctx, room);
      await known.expire(ctx, [randomUUID()]);
      await known.expire(ctx, null);
    });
  });
}
