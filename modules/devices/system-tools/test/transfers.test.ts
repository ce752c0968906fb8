/** Downloads, and transfers of any size through two processes. */
import { Readable } from 'node:stream';
import test from 'ava';
import type { FakeCommand, Said } from '#test';
import { bench } from './arrange.ts';
import {
  bring,
  fetchFile,
  growth,
  hasty,
  here,
  MEBIBYTE,
  none,
  other,
  platform,
  putFile,
  reads,
  rows,
  take,
  writes,
} from './transfer-ground.ts';
import { asAgent, bytes, digest, json } from './wires.ts';

test.serial(
  '200 MiB are downloaded and uploaded through two processes without changes, in little memory',
  async (t) => {
    t.timeout(300_000);
    const size = 200 * MEBIBYTE;
    const expected = await digest(bytes(size));
    here.live.script = reads(MEBIBYTE);
    await digest(await fetchFile().answer);
    here.live.script = reads(size);
    const begin = performance.now();
    const down = await growth(async () => t.deepEqual(await digest(await fetchFile().answer), expected));
    const between = performance.now();
    here.live.script = writes;
    const up = await growth(async () => {
      const { status, body } = await json(await putFile('path=/srv/big.iso', bytes(size)).answer);
      t.is(status, 200, JSON.stringify(body));
      t.deepEqual(body, { success: true, path: '/srv/big.iso', ...expected });
    });
    const [first, second] = [between - begin, performance.now() - between].map((ms) => Math.round(ms));
    t.log(`down in ${first} ms with ${Math.round(down)} MiB more, up in ${second} ms with ${Math.round(up)} MiB more`);
    t.true(down < 140 && up < 140);
    await none();
  },
);

test.serial('a download has headers for its file, and its audit entry has no content', async (t) => {
  here.live.script = reads(11);
  const answer = await fetchFile(here, "/var/lists/it's 100% ü.txt").answer;
  t.like(answer.headers, {
    'content-type': 'application/octet-stream',
    'content-length': '11',
    'content-disposition': "attachment; filename*=UTF-8''it%27s%20100%25%20%C3%BC.txt",
    'x-content-type-options': 'nosniff',
  });
  t.is((await digest(answer)).size, 11);
  const [command] = here.live.seen.slice(-1);
  t.deepEqual(command?.payload, { path: "/var/lists/it's 100% ü.txt", transfer: true });
  const [entry] = (await platform.audits({ action: 'device.file.download' })).slice(-1);
  t.like(entry, { result: 'success', org_id: here.orgId });
  t.like(entry?.details, { path: "/var/lists/it's 100% ü.txt", commandId: command?.id });
  await none();
  here.live.script = reads(0);
  const empty = await fetchFile().answer;
  t.is(empty.statusCode, 200);
  t.is((await digest(empty)).size, 0);
  await none();
});

test.serial('an error of the agent before the first byte is an answer, and leaves no row', async (t) => {
  for (const [code, status, shown] of [
    ['NOT_FOUND', 404, 'NOT_FOUND'],
    ['DENIED', 403, 'DEVICE_DENIED'],
    ['FILE_LOCKED', 409, 'FILE_LOCKED'],
    ['TOO_LARGE', 413, 'PAYLOAD_TOO_LARGE'],
  ] as const) {
    here.live.script = () => ({ status: 'failed', error: 'No, because', result: { code } });
    const answer = await json(await fetchFile().answer);
    t.is(answer.status, status);
    t.like(answer.body.error, { code: shown, message: 'No, because' });
    t.is(await rows(), 0);
  }
  here.live.script = () => ({ result: { path: '/x', size: 1, sha256: 'a'.repeat(64) } });
  t.is((await fetchFile().answer).statusCode, 502, 'done without having brought anything');
  const failures = await platform.audits({ action: 'device.file.download' });
  t.is(failures.filter(({ result }) => result === 'failure').length, 5);
});

test.serial('a download whose agent stops early or sends wrong data closes its connection', async (t) => {
  const size = 3 * MEBIBYTE;
  // Each error comes after the head of the answer was received.
  let headed = Promise.withResolvers<void>();
  const halting = (before: number, after: () => AsyncIterable<Buffer>) =>
    Readable.from(
      (async function* () {
        yield* bytes(before) as AsyncIterable<Buffer>;
        await headed.promise;
        yield* after();
      })(),
    );
  const cut = (after: number) =>
    halting(after, () => {
      throw new Error('pulled out');
    });
  const cases: [string, (command: FakeCommand) => Promise<Said | undefined>][] = [
    [
      'stops',
      async ({ id }) => {
        await bring(id, size, cut(MEBIBYTE)).answer.catch(() => undefined);
        return { status: 'failed', error: 'The connection broke', result: { code: 'INVALID' } };
      },
    ],
    [
      'shrinks',
      async ({ id }) => {
        const rest = () => bytes(MEBIBYTE - 1) as AsyncIterable<Buffer>;
        const answer = await json(await bring(id, size, halting(size - MEBIBYTE, rest)).answer);
        t.is(answer.status, 410);
        return undefined;
      },
    ],
    [
      'lies',
      async ({ id }) => {
        t.is((await bring(id, size, bytes(size)).answer).statusCode, 200);
        await headed.promise;
        return { result: { path: '/x', size, sha256: '0'.repeat(64) } };
      },
    ],
    [
      'says it failed after all',
      async ({ id }) => {
        t.is((await bring(id, size, bytes(size)).answer).statusCode, 200);
        await headed.promise;
        return { status: 'failed', error: 'A bad block', result: { code: 'INVALID' } };
      },
    ],
  ];
  for (const [what, script] of cases) {
    here.live.script = script;
    headed = Promise.withResolvers<void>();
    const answer = await fetchFile().answer;
    headed.resolve();
    t.is(answer.statusCode, 200, what);
    await t.throwsAsync(digest(answer), undefined, what);
    await none();
  }
});

test.serial(
  'a sender is no faster than its reader, and a reader that stops for too long loses the transfer',
  async (t) => {
    const size = 100 * MEBIBYTE;
    const refused = Promise.withResolvers<number>();
    here.live.script = async ({ id }) => {
      const { status } = await json(await bring(id, size, bytes(size)).answer);
      refused.resolve(status);
      return { status: 'failed', error: 'The file was not read', result: { code: 'TIMEOUT' } };
    };
    const answer = await fetchFile(here, '/var/big.iso', hasty.url).answer;
    answer.on('error', () => undefined);
    let most = 0;
    while ((await rows()) !== 0) {
      const [row] = await platform.sql<{ written: string }>('select written from file_transfers');
      most = Math.max(most, Number(row?.written ?? 0));
    }
    t.true(most < 40 * MEBIBYTE, `${most / MEBIBYTE} MiB were taken in`);
    t.is(await refused.promise, 410);
    answer.destroy();
  },
);

test.serial('an aborted download ends at the agent too, and leaves no rows', async (t) => {
  const size = 60 * MEBIBYTE;
  const ended = Promise.withResolvers<number>();
  here.live.script = async ({ id }) => {
    const { status } = await json(await bring(id, size, bytes(size)).answer);
    ended.resolve(status);
    return { status: 'failed', error: 'Nobody wants it', result: { code: 'CONFLICT' } };
  };
  const wire = fetchFile();
  const answer = await wire.answer;
  answer.once('data', () => wire.cut());
  answer.on('error', () => undefined);
  t.is(await ended.promise, 410);
  await none();
});

test.serial('a transfer is open to the agent of its device, in its direction, once', async (t) => {
  const stranger = await bench(platform, () => undefined, { osType: 'linux' });
  const tried = Promise.withResolvers<void>();
  here.live.script = async (command) => {
    const { id } = command;
    const head = { method: 'PUT', headers: { 'x-file-size': '1' } } as const;
    t.is((await asAgent(other.url, stranger.agent, id, { ...head, body: bytes(1) }).answer).statusCode, 410);
    t.is((await take(id).answer).statusCode, 410);
    const sizeless = asAgent(other.url, here.agent, id, { method: 'PUT', body: bytes(1) });
    t.is((await sizeless.answer).statusCode, 400);
    const said = await reads(5)(command);
    t.is((await bring(id, 5, bytes(5)).answer).statusCode, 410);
    tried.resolve();
    return said;
  };
  t.is((await digest(await fetchFile().answer)).size, 5);
  await tried.promise;
  await stranger.live.close();
});

test.serial('an invalid path is rejected before a command is queued', async (t) => {
  here.live.seen.length = 0;
  for (const path of ['etc/passwd', '/a/../b', '/a\\..\\b', 'C:\\x', '']) {
    const answer = await json(await fetchFile(here, path).answer);
    t.is(answer.status, 400, path);
    const upload = await here.ask('POST', '/files/upload', { path: path || '..', content: 'x', encoding: 'text' });
    t.is(upload.status, 400, path);
    t.is(upload.body.error.details[0].path, 'path');
  }
  t.is((await putFile('overwrite=true', bytes(1)).answer).statusCode, 400);
  t.is(here.live.seen.length, 0);
});

test.serial('a job removes what two killed processes left', async (t) => {
  await platform.sql(
    `with call as (
       insert into tool_calls (command_id, device_id, org_id, tool, open_until)
       values (gen_random_uuid(), $1, $2, 'file_read', now()) returning command_id),
     moving as (
       insert into file_transfers (command_id, device_id, org_id, direction, moved_at)
       select command_id, $1, $2, 'download', now() - interval '130 seconds' from call returning command_id)
     insert into file_transfer_chunks select command_id, 0, $2, 'x' from moving`,
    [here.agent.deviceId, here.orgId],
  );
  t.is(await rows(), 2);
  await platform.sql(`select graphile_worker.add_job('system-tools/clean-transfers', '{}')`);
  await platform.runJobs();
  t.is(await rows(), 0);
});
