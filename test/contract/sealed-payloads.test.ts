/** What types of commands declare secret stands nowhere in the clear: neither in a table while it waits nor after its end. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { startTestPlatform, tenant } from '#test';
import { COMMAND_TYPES } from '../../modules/devices/device-commands/services/command-types.ts';
import { OWN_SECRETS } from '../../modules/devices/device-commands/services/sealed-payloads.ts';
import { asAgent, asPlatform, enroll, heartbeat } from '../../modules/devices/devices/test/arrange.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

/** Each table that has a row with the text. */
async function tablesWith(text: string): Promise<string[]> {
  const tables = await platform.sql<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and n.nspname in ('public', 'graphile_worker')`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await platform.sql(`select from ${name} t where strpos(t::text, $1) > 0 limit 1`, [text]);
    if (rows.length > 0) found.push(name);
  }
  return found;
}

/** Every type with its secret fields: of the module itself and of all owners of commands. */
async function declared(): Promise<[type: string, fields: readonly string[]][]> {
  const owners = await asPlatform(platform, async (ctx) => ctx.contributions('device-commands.command'));
  return [
    ...Object.entries(OWN_SECRETS),
    ...Object.entries(COMMAND_TYPES).flatMap(([type, { secrets }]) => (secrets ? [[type, secrets] as const] : [])),
    ...owners.flatMap(({ secrets }) => Object.entries(secrets ?? {})),
  ].map(([type, fields]) => [type, fields]);
}

test('no field that a type of command declares secret is stored in the clear, and the agent gets it as it was', async (t) => {
  const at = await tenant(platform);
  const device = await enroll(platform, at);
  const types = await declared();
  t.true(types.length >= 2, 'scripts and the registry declare some');
  for (const [type, fields] of types) {
    const canary = `canary-${randomUUID()}`;
    const payload = { ...Object.fromEntries(fields.map((field) => [field, [canary, field]])), plain: 'as it is' };
    const { id } = await asPlatform(platform, (ctx) =>
      ctx.use('device-commands').queueCommand(device.deviceId, { type, payload, source: 'system' }),
    );
    t.deepEqual(await tablesWith(canary), [], `${type} while it waits`);
    t.deepEqual(await tablesWith('as it is'), ['public.device_commands'], 'the rest is readable for operators');
    const { commands } = await heartbeat(platform, device);
    t.deepEqual(commands.find((one) => one.id === id)?.payload, payload, `${type} as the agent gets it`);
    await platform.sql(`update device_commands set status = 'pending' where id = $1`, [id]);
    const [again] = await asAgent(platform, device, (ctx) =>
      ctx.use('device-commands').pushCommands(device.deviceId, 'agent', 1),
    );
    t.deepEqual(again?.payload, payload, `${type} over a connection`);
    t.deepEqual(await tablesWith(canary), [], `${type} while it runs`);
    await asAgent(platform, device, (ctx) =>
      ctx.use('device-commands').finishCommand(device.deviceId, id, 'agent', { status: 'completed' }),
    );
    const [row] = await platform.sql<{ payload: object }>('select payload from device_commands where id = $1', [id]);
    t.deepEqual(row?.payload, {}, 'erased at its end');
  }
});

test('what was sealed for one command opens for no other, which then is not given out', async (t) => {
  const at = await tenant(platform);
  const device = await enroll(platform, at);
  const queue = (content: string) =>
    asPlatform(platform, (ctx) =>
      ctx
        .use('device-commands')
        .queueCommand(device.deviceId, { type: 'script', payload: { content }, source: 'system' }),
    );
  const [one, two] = [await queue('first'), await queue('second')];
  await platform.sql(
    'update device_commands set payload = (select payload from device_commands where id = $1) where id = $2',
    [one.id, two.id],
  );
  const { commands } = await heartbeat(platform, device);
  t.deepEqual(
    commands.map(({ id, payload }) => [id, payload]),
    [[one.id, { content: 'first' }]],
  );
});
