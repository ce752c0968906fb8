/** Cancelling commands that are delivered, and commands of users who are no longer authorized. */
import test from 'ava';
import { apiKey, type ErrorBody, orgUser, startTestPlatform, tenant } from '#test';
import { asAgent, enroll, eventsOf, heartbeat, runJob } from '../../devices/test/arrange.ts';
import type { CommandResult } from '../services/results.ts';

type EnrolledDevice = { deviceId: string; orgId: string };
const platform = await startTestPlatform();
test.after.always(() => platform.stop());

async function arrange() {
  const place = await tenant(platform);
  const device = await enroll(platform, place);
  return { ...place, device, token: place.partner.token, path: `/devices/${device.deviceId}` };
}
type At = Awaited<ReturnType<typeof arrange>>;
const runScript = async ({ token, path }: At) => {
  const made = await platform.call<{ data: { id: string } }>('POST', `${path}/run-script`, {
    token,
    body: { language: 'sh', content: 'sleep 60' },
  });
  return made.body.data.id;
};
const cancel = ({ token, path }: At, id: string) =>
  platform.call<{ data: { status: string; cancelRequestedAt: string | null } } & ErrorBody>(
    'POST',
    `${path}/commands/${id}/cancel`,
    { token, body: {} },
  );
const claim = (device: EnrolledDevice) =>
  asAgent(platform, device, (ctx) => ctx.use('device-commands').claimCommands(device.deviceId, 'agent'));
const start = (device: EnrolledDevice, id: string) =>
  asAgent(platform, device, (ctx) => ctx.use('device-commands').startCommand(device.deviceId, id));
const finish = (device: EnrolledDevice, id: string, result: CommandResult) =>
  asAgent(platform, device, (ctx) => ctx.use('device-commands').finishCommand(device.deviceId, id, 'agent', result));
const rowOf = async (id: string) => (await platform.sql('select * from device_commands where id = $1', [id]))[0] ?? {};

test('a running script is cancelled only when its agent reports so', async (t) => {
  const at = await arrange();
  const id = await runScript(at);
  await claim(at.device);
  await start(at.device, id);
  const asked = await cancel(at, id);
  t.is(asked.status, 200);
  t.like(asked.body.data, { status: 'running' });
  t.truthy(asked.body.data.cancelRequestedAt);
  const [order] = await claim(at.device);
  t.like(order, { type: 'cancel_command', payload: { commandId: id }, priority: 10 });
  t.is((await cancel(at, id)).status, 200, 'asking again changes nothing');
  t.deepEqual(await claim(at.device), []);
  await finish(at.device, id, { status: 'cancelled', error: 'cancelled while it ran' });
  await finish(at.device, order?.id ?? '', { status: 'completed', result: { state: 'stopping' } });
  t.like(await rowOf(id), { status: 'cancelled', error: 'cancelled while it ran', payload: {} });
  t.deepEqual((await cancel(at, id)).body.error.details, [{ current: 'cancelled', allowed: ['pending'] }] as never);
  const trail = (await platform.audits({ action: 'device.command.cancel', orgId: at.orgId })).filter(
    ({ result }) => result === 'success',
  );
  t.deepEqual(
    trail.map(({ details }) => details),
    [{ type: 'script', commandId: id, asked: true }],
  );
  t.true((await eventsOf(platform, at.device.deviceId)).includes('device-commands.finished'));
});

test('a script that ended before its agent received the cancellation keeps its result', async (t) => {
  const at = await arrange();
  const id = await runScript(at);
  await claim(at.device);
  await start(at.device, id);
  await cancel(at, id);
  await finish(at.device, id, { status: 'completed', exitCode: 0 });
  t.like(await rowOf(id), { status: 'completed', exit_code: 0 });
});

test('the result cancelled becomes failed when no cancellation was requested', async (t) => {
  const at = await arrange();
  const id = await runScript(at);
  await claim(at.device);
  await finish(at.device, id, { status: 'cancelled' });
  t.like(await rowOf(id), { status: 'failed' });
});

test('a command that the agent reports as never received is cancelled and is not given out again', async (t) => {
  const [told, lost] = await Promise.all([arrange(), arrange()]);
  const id = await runScript(told);
  await claim(told.device);
  await cancel(told, id);
  const [order] = await claim(told.device);
  await finish(told.device, order?.id ?? '', { status: 'completed', result: { state: 'unknown' } });
  t.like(await rowOf(id), { status: 'cancelled' });

  const other = await runScript(lost);
  await claim(lost.device);
  await cancel(lost, other);
  await claim(lost.device);
  await platform.sql(`update device_commands set sent_at = now() - interval '3 minutes' where id = $1`, [other]);
  await runJob(platform, 'device-commands/sweep-commands');
  t.false(
    (await claim(lost.device)).some((command) => command.id === other),
    'back in the queue, and not given out',
  );
  await runJob(platform, 'device-commands/sweep-commands');
  t.like(await rowOf(other), { status: 'cancelled' });
});

test('commands that cannot be stopped halfway, and commands of other tenants, are not cancelled', async (t) => {
  const at = await arrange();
  const made = await platform.call<{ data: { id: string } }>('POST', `${at.path}/commands`, {
    token: at.token,
    body: { type: 'reboot' },
  });
  const { id } = made.body.data;
  await claim(at.device);
  const refused = await cancel(at, id);
  t.is(refused.status, 409);
  t.deepEqual(refused.body.error.details, [{ current: 'sent', allowed: ['pending'] }] as never);
  const stranger = await arrange();
  t.is((await cancel({ ...stranger, path: at.path }, await runScript(at))).status, 404);
  t.is(
    (await platform.sql(`select 1 from device_commands where type = 'cancel_command' and org_id = $1`, [at.orgId]))
      .length,
    0,
  );
});

test('commands of a disabled user or of a revoked API key are not given out and are cancelled', async (t) => {
  const at = await arrange();
  const person = await orgUser(platform, { orgId: at.orgId });
  const key = await apiKey(platform, { orgId: at.orgId, scopes: ['devices:execute'], createdBy: at.orgAdmin.id });
  const order = async (caller: object) =>
    (
      await platform.call<{ data: { id: string } }>('POST', `${at.path}/commands`, {
        ...caller,
        body: { type: 'lock' },
      })
    ).body.data.id;
  const [byPerson, byKey, byAnother] = [
    await order({ token: person.token }),
    await order({ apiKey: key }),
    await order({ token: at.token }),
  ];
  await platform.sql(`update users set status = 'disabled' where id = $1`, [person.id]);
  await platform.sql(`update api_keys set status = 'revoked' where org_id = $1`, [at.orgId]);
  const { commands } = await heartbeat(platform, at.device);
  t.deepEqual(
    commands.map(({ id }) => id),
    [byAnother],
  );
  await runJob(platform, 'device-commands/sweep-commands');
  for (const id of [byPerson, byKey]) {
    t.like(await rowOf(id), { status: 'cancelled', error: 'The sender of the command is no longer active' });
  }
  t.like(await rowOf(byAnother), { status: 'sent' });
});
