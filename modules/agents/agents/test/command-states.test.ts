/** The states of a command, as a property: no sequence of events causes an unknown transition. */
import test from 'ava';
import type { Context } from '#core';
import { runUnitOfWork } from '#core/work';
import { enrollAgent, enrollmentKey, startTestPlatform, tenant } from '#test';
import { fc } from '#test/properties';
import { EVERYWHERE, NOBODY } from '../../../../core/context/index.ts';
import {
  cancelUnwanted,
  expireCommands,
  redeliverCommands,
  timeOutCommands,
} from '../../../devices/device-commands/services/deadlines.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());
const asPlatform = <T>(run: (ctx: Context) => Promise<T>) =>
  runUnitOfWork(
    platform.platform.tasks.work,
    { actor: NOBODY, scope: EVERYWHERE, requestId: 'test', log: platform.platform.tasks.log, role: 'platform' },
    run,
  );

const TERMINAL = ['completed', 'failed', 'timeout', 'cancelled', 'expired'];
/** The transitions from each state. A `timeout` may still change while the server only assumed it. */
const NEXT: Record<string, string[]> = {
  // A result or start of a delivery that was taken back still counts.
  pending: ['sent', 'cancelled', 'expired', 'running', 'completed', 'failed', 'timeout'],
  // From here on a command is cancelled only on request.
  sent: ['pending', 'running', 'completed', 'failed', 'timeout', 'cancelled'],
  running: ['completed', 'failed', 'timeout', 'cancelled'],
  timeout: ['completed', 'failed', 'timeout', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
  expired: [],
};
interface Row {
  status: string;
  provisional: boolean;
  attempt: number;
  late: boolean;
  asked: boolean;
}
const EVENTS = [
  ...['poll', 'push', 'ack', 'completed', 'failed', 'timeout', 'release', 'unsent', 'stale', 'reconnect', 'cancel'],
  ...['deadline', 'overdue', 'minutes', 'dayLater', 'cancelled', 'unheard', 'sweep'],
] as const;
type Event = (typeof EVENTS)[number];

test('random events cause no unknown transition, the first final state stays, and an ended command is not delivered', async (t) => {
  t.timeout(240_000);
  const at = await tenant(platform);
  const { deviceId } = await enrollAgent(platform, { key: await enrollmentKey(platform, at) });
  const read = async (id: string) => {
    const [row] = await platform.sql<Row & { [field: string]: unknown }>(
      'select status, provisional, attempt, late, cancel_requested_at is not null as asked from device_commands where id = $1',
      [id],
    );
    if (!row) throw new Error('the command is gone');
    return row as Row;
  };
  const shift = (id: string, columns: string, by: string) =>
    platform.sql(
      `update device_commands set ${columns
        .split(' ')
        .map((column) => `${column} = ${column} - interval '${by}'`)
        .join(', ')} where id = $1`,
      [id],
    );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...EVENTS), { minLength: 1, maxLength: 14 }), async (events) => {
      const { id } = await asPlatform((ctx) =>
        ctx
          .use('device-commands')
          .queueCommand(deviceId, { type: 'script', source: 'system', executionTimeoutSeconds: 60 }),
      );
      const mine = (list: { id: string }[]) => list.filter((one) => one.id === id).length;
      let epoch = 1;
      let given = 0;
      const step: Record<Event, (row: Row) => Promise<unknown>> = {
        poll: async () => {
          given += mine(await asPlatform((ctx) => ctx.use('device-commands').claimCommands(deviceId, 'agent')));
        },
        push: async () => {
          given += mine(await asPlatform((ctx) => ctx.use('device-commands').pushCommands(deviceId, 'agent', epoch)));
        },
        ack: () => asPlatform((ctx) => ctx.use('device-commands').beginCommand(deviceId, 'agent', id)),
        completed: () => finish('completed'),
        failed: () => finish('failed'),
        timeout: () => finish('timeout'),
        release: ({ attempt }) =>
          asPlatform((ctx) => ctx.use('device-commands').releaseCommands(deviceId, [{ id, attempt }])),
        unsent: ({ attempt, status }) =>
          // Only an agent that has just claimed the command reports it.
          status === 'sent'
            ? asPlatform((ctx) => ctx.use('device-commands').releaseCommands(deviceId, [{ id, attempt, unsent: true }]))
            : Promise.resolve(),
        stale: ({ attempt }) =>
          asPlatform((ctx) => ctx.use('device-commands').releaseCommands(deviceId, [{ id, attempt: attempt - 1 }])),
        reconnect: () => {
          epoch += 1;
          return asPlatform((ctx) => ctx.use('device-commands').reclaimCommands(deviceId, 'agent', epoch));
        },
        cancel: () =>
          platform.call('POST', `/devices/${deviceId}/commands/${id}/cancel`, { token: at.orgAdmin.token, body: {} }),
        deadline: async () => {
          await shift(id, 'deliver_by', '8 days');
          await asPlatform(expireCommands);
        },
        overdue: async () => {
          await shift(id, 'sent_at started_at', '1 hour');
          await asPlatform(timeOutCommands);
        },
        minutes: async () => {
          await shift(id, 'sent_at', '3 minutes');
          await asPlatform(redeliverCommands);
        },
        cancelled: () => finish('cancelled'),
        unheard: async () => {
          const [order] = await platform.sql<{ id: string }>(
            `update device_commands set status = 'sent', attempt = 1 where source_id = $1 and status = 'pending' returning id`,
            [id],
          );
          const said = { status: 'completed' as const, result: { state: 'unknown' } };
          if (order)
            await asPlatform((ctx) => ctx.use('device-commands').finishCommand(deviceId, order.id, 'agent', said));
        },
        sweep: () => asPlatform(cancelUnwanted),
        dayLater: () => shift(id, 'finished_at', '25 hours'),
      };
      const finish = (status: 'completed' | 'failed' | 'timeout' | 'cancelled') =>
        asPlatform((ctx) => ctx.use('device-commands').finishCommand(deviceId, id, 'agent', { status }));
      let before = await read(id);
      for (const event of events) {
        const givenBefore = given;
        await step[event](before);
        const after = await read(id);
        const way = `${event}: ${before.status} to ${after.status} in ${events.join(' ')}`;
        if (after.status !== before.status) {
          if (!NEXT[before.status]?.includes(after.status)) throw new Error(`not in the table: ${way}`);
          if (after.status === 'cancelled' && before.status !== 'pending' && !before.asked)
            throw new Error(`nobody asked: ${way}`);
          if (before.status === 'timeout' && !before.provisional) throw new Error(`an end was changed: ${way}`);
          if (
            before.status === 'pending' &&
            before.attempt === 0 &&
            !['sent', 'cancelled', 'expired'].includes(after.status)
          )
            throw new Error(`nobody had it: ${way}`);
          if (before.status === 'timeout' && !after.late) throw new Error(`not marked late: ${way}`);
        }
        if (given > givenBefore && before.asked) throw new Error(`given out although unwanted: ${way}`);
        if (given > givenBefore && TERMINAL.includes(before.status)) throw new Error(`given out after its end: ${way}`);
        before = after;
      }
      // Removes the device for the next run.
      await platform.sql('delete from device_commands where device_id = $1', [deviceId]);
    }),
    { numRuns: 150 },
  );
  t.pass();
});
