/** Uploads: as the body or within JSON, rejected, aborted, or never fetched. */
import { Readable } from 'node:stream';
import test from 'ava';
import { until } from '#test';
import { hasty, here, MEBIBYTE, none, platform, putFile, take, writes } from './transfer-ground.ts';
import { bytes, digest, json } from './wires.ts';

test.serial('a file within JSON is uploaded, as text and as base64', async (t) => {
  here.live.script = writes;
  const text = 'Grüße\r\n';
  const { status, body } = await here.ask('POST', '/files/upload', {
    path: '/etc/motd',
    content: text,
    encoding: 'text',
    createParents: true,
  });
  t.is(status, 200, JSON.stringify(body));
  const expected = await digest(Readable.from([Buffer.from(text)]));
  t.deepEqual(body, { success: true, path: '/etc/motd', ...expected });
  const [command] = here.live.seen.slice(-1);
  t.deepEqual(command?.payload, {
    ...{ path: '/etc/motd', overwrite: false, createParents: true, transfer: true },
    ...expected,
  });
  const [entry] = (await platform.audits({ action: 'device.file_upload' })).slice(-1);
  t.like(entry?.details, { path: '/etc/motd', size: 9, commandId: command?.id });
  t.false(JSON.stringify(entry).includes('Gr'));
  const content = Buffer.from([0, 1, 255]).toString('base64');
  t.is((await here.ask('POST', '/files/upload', { path: '/x', content, encoding: 'base64' })).body.size, 3);
  t.is((await here.ask('POST', '/files/upload', { path: '/x', content: '', encoding: 'text' })).body.size, 0);
  const bad = await here.ask('POST', '/files/upload', { path: '/x', content: 'no base64!', encoding: 'base64' });
  t.is(bad.body.error.details[0].path, 'content');
  const large = await here.ask('POST', '/files/upload', {
    path: '/x',
    content: 'x'.repeat(4 * MEBIBYTE + 1),
    encoding: 'text',
  });
  t.is(large.status, 413);
  t.regex(large.body.error.message, /octet-stream/);
  await none();
});

test.serial(
  'an error of the agent is answered before the upload is complete, and a wrong checksum is an error',
  async (t) => {
    here.live.script = () => ({ status: 'failed', error: 'There is such a file', result: { code: 'CONFLICT' } });
    const refused = await json(await putFile('path=/x', bytes(300 * MEBIBYTE)).answer);
    t.is(refused.status, 409);
    t.like(refused.body.error, { code: 'DEVICE_CONFLICT', message: 'There is such a file' });
    await none();
    here.live.script = async (command) => {
      const said = await writes(command);
      return { result: { ...(said.result as object), sha256: 'f'.repeat(64) } };
    };
    t.is((await putFile('path=/x', bytes(1000)).answer).statusCode, 502);
    here.live.script = () => ({ result: { path: '/x', size: 1000, sha256: 'f'.repeat(64) } });
    t.is((await putFile('path=/x', bytes(1000)).answer).statusCode, 502, 'it has fetched nothing');
    await none();
  },
);

test.serial('an aborted upload is aborted at the agent too', async (t) => {
  const broken = Promise.withResolvers<boolean>();
  let cut: () => void = () => undefined;
  here.live.script = async ({ id }) => {
    const answer = await take(id).answer;
    answer.once('data', () => cut());
    broken.resolve(
      await digest(answer).then(
        () => false,
        () => true,
      ),
    );
    return { status: 'failed', error: 'The stream broke off', result: { code: 'INVALID' } };
  };
  const wire = putFile('path=/x', bytes(500 * MEBIBYTE), { 'content-length': String(500 * MEBIBYTE) });
  cut = wire.cut;
  await t.throwsAsync(wire.answer);
  t.true(await broken.promise);
  await none();
});

test.serial('removing a transfer causes no deadlock with its agent', async (t) => {
  const [made] = await platform.sql<{ id: string }>(
    `with call as (
       insert into tool_calls (command_id, device_id, org_id, tool, open_until)
       values (gen_random_uuid(), $1, $2, 'file_write', now() + interval '1 hour') returning command_id)
     insert into file_transfers (command_id, device_id, org_id, direction)
     select command_id, $1, $2, 'upload' from call returning command_id as id`,
    [here.agent.deviceId, here.orgId],
  );
  const id = made?.id ?? '';
  const broken = take(id)
    .answer.then(digest)
    .then(
      () => false,
      () => true,
    );
  await until(async () => (await platform.sql('select 1 from file_transfers where begun_at is not null')).length > 0);
  const removing = await platform.platform.tasks.work.database.owner.connect();
  // In a deadlock this transaction would be the one that fails.
  await removing.query("begin; set local deadlock_timeout = '10ms'");
  await removing.query('select from file_transfers where command_id = $1 for no key update', [id]);
  await platform.sql(`insert into file_transfer_chunks values ($1, 0, $2, 'x')`, [id, here.orgId]);
  // The agent's end has found the chunk and waits for the lock.
  await until(async () => {
    const waiting = `select 1 from pg_locks where not granted and pid in
      (select pid from pg_stat_activity where datname = current_database())`;
    return (await platform.sql(waiting)).length > 0;
  });
  await removing.query('delete from file_transfers where command_id = $1', [id]);
  await removing.query('commit');
  removing.release();
  t.true(await broken);
  await none();
});

test.serial('an upload that no agent fetches times out unverified', async (t) => {
  here.live.script = () => undefined;
  const { status, body } = await json(await putFile('path=/x', bytes(1000), {}, hasty.url).answer);
  t.is(status, 504);
  const [command] = here.live.seen.slice(-1);
  t.like(body.error, { code: 'DEVICE_TIMEOUT', details: [{ outcome: 'unverified', commandId: command?.id }] });
  await none();
});
