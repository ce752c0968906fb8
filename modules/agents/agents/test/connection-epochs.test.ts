/** The connections of an agent, as a property: in every order of events, the newest one holds the row. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import type { Context } from '#core';
import { runUnitOfWork } from '#core/work';
import { enrollAgent, enrollmentKey, startTestPlatform, tenant } from '#test';
import { fc } from '#test/properties';
import { EVERYWHERE, NOBODY } from '../../../../core/context/index.ts';
import { connect, disconnect, keepNode } from '../services/sockets/connections.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());
const asPlatform = <T>(run: (ctx: Context) => Promise<T>) =>
  runUnitOfWork(
    platform.platform.tasks.work,
    { actor: NOBODY, scope: EVERYWHERE, requestId: 'test', log: platform.platform.tasks.log, role: 'platform' },
    run,
  );
const newDevice = async () =>
  (await enrollAgent(platform, { key: await enrollmentKey(platform, await tenant(platform)) })).deviceId;

type Role = 'agent' | 'watchdog';
type Step =
  | { what: 'connect'; role: Role; node: number }
  /** Two sockets of one agent in one moment, so perhaps in one batch. */
  | { what: 'both'; role: Role; node: number }
  /** The socket closes that was opened so many connections ago. */
  | { what: 'close'; role: Role; ago: number }
  | { what: 'death'; node: number };
const role = fc.constantFrom<Role>('agent', 'watchdog');
const node = fc.integer({ min: 0, max: 1 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ what: fc.constant('connect' as const), role, node }),
  fc.record({ what: fc.constant('both' as const), role, node }),
  fc.record({ what: fc.constant('close' as const), role, ago: fc.integer({ min: 0, max: 3 }) }),
  fc.record({ what: fc.constant('death' as const), node }),
);

test('epochs only grow, a stale close changes nothing, and a dead process holds no connection', async (t) => {
  t.timeout(120_000);
  const deviceId = await newDevice();
  const kept = randomUUID();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 15 }), async (steps) => {
      await platform.sql('delete from agent_connections where device_id = $1', [deviceId]);
      const nodes = [randomUUID(), randomUUID()];
      for (const id of nodes) await asPlatform((ctx) => keepNode(ctx, id));
      const opened: Record<Role, number[]> = { agent: [], watchdog: [] };
      const holds: Record<Role, string | null> = { agent: null, watchdog: null };
      for (const one of steps) {
        if (one.what === 'connect' || one.what === 'both') {
          const nodeId = nodes[one.node] as string;
          const open = () => asPlatform((ctx) => connect(ctx, { deviceId, role: one.role, nodeId }));
          const epochs = await Promise.all(one.what === 'both' ? [open(), open()] : [open()]);
          if (new Set(epochs).size !== epochs.length) throw new Error('one epoch twice');
          const last = opened[one.role].at(-1) ?? 0;
          if (Math.min(...epochs) !== last + 1) throw new Error(`${last} is followed by ${epochs.join()}`);
          opened[one.role].push(...epochs.sort((a, b) => a - b));
          holds[one.role] = nodeId;
        } else if (one.what === 'close') {
          const epoch = opened[one.role].at(-1 - one.ago);
          if (epoch === undefined) continue;
          await asPlatform((ctx) => disconnect(ctx, { deviceId, role: one.role, epoch }));
          if (one.ago === 0) holds[one.role] = null;
        } else {
          const dead = nodes[one.node] as string;
          await platform.sql(`update agent_nodes set seen_at = now() - interval '2 minutes' where id = $1`, [dead]);
          await asPlatform((ctx) => keepNode(ctx, kept));
          for (const held of ['agent', 'watchdog'] as const) if (holds[held] === dead) holds[held] = null;
          await asPlatform((ctx) => keepNode(ctx, dead));
        }
        const rows = await platform.sql<{ role: Role; node_id: string | null; epoch: number }>(
          'select role, node_id, epoch::int as epoch from agent_connections where device_id = $1',
          [deviceId],
        );
        for (const row of rows) {
          if (row.epoch !== opened[row.role].at(-1))
            throw new Error(`epoch ${row.epoch} after ${JSON.stringify(steps)}`);
          if (row.node_id !== holds[row.role]) throw new Error(`held by ${row.node_id} after ${JSON.stringify(steps)}`);
        }
      }
    }),
    { numRuns: 60 },
  );
  t.pass();
});
