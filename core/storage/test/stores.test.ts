/** Stores of objects: the folder, and a bucket on a real S3-compatible server. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import test from 'ava';
import { openS3Server, until } from '#test';
import { folderStore } from '../folder-store.ts';
import { openArchive, openReleases } from '../open-store.ts';
import type { ObjectStore } from '../store.ts';
import { readText } from '../text.ts';

/** Bytes of an object whose put is interrupted. */
const SIZE = 32_000_000;
const dataDir = await mkdtemp(join(tmpdir(), 'stores-'));
const s3 = await openS3Server();
const objectStorage = {
  ...{ endpoint: s3.env.S3_ENDPOINT, region: s3.env.S3_REGION, bucket: s3.name, forcePathStyle: true },
  ...{ accessKeyId: s3.env.S3_ACCESS_KEY_ID, secretAccessKey: s3.env.S3_SECRET_ACCESS_KEY },
};
test.after.always(async () => {
  await s3.close();
  await rm(dataDir, { recursive: true });
});
const stores: Record<'folder' | 'bucket' | 'part of a bucket', ObjectStore> = {
  folder: await openArchive({ dataDir }),
  bucket: await openArchive({ dataDir, objectStorage }),
  'part of a bucket': await openReleases(objectStorage),
};

for (const [kind, store] of Object.entries(stores)) {
  test.serial(`${kind}: what was put is read and listed in order`, async (t) => {
    const content = randomBytes(300_000);
    await store.put('a/b/two', content);
    await store.put('a/one', 'short');
    await store.put('a/ünïcode +%&', 'a name of its own');
    await store.put('elsewhere', '');
    t.deepEqual(await buffer(await store.read('a/b/two')), content);
    t.is(await readText(store, 'a/ünïcode +%&'), 'a name of its own');
    t.is(await readText(store, 'elsewhere'), '');
    t.deepEqual(await store.list('a/'), [
      { key: 'a/b/two', size: 300_000 },
      { key: 'a/one', size: 5 },
      { key: 'a/ünïcode +%&', size: 17 },
    ]);
    await store.put('a/one', 'written again');
    t.is(await readText(store, 'a/one'), 'written again');
    await t.throwsAsync(store.read('a/three'), { message: /ENOENT|does not exist/ });
    t.deepEqual(await store.list('nothing/'), []);
  });
}

test.serial('a bucket that keeps less than it was given fails the put', async (t) => {
  s3.state.losing = true;
  await t.throwsAsync(stores.bucket.put('lost', randomBytes(1000)), { message: /kept 10 of 1000 bytes/ });
  s3.state.losing = false;
  const wrongKey = await openArchive({ dataDir, objectStorage: { ...objectStorage, accessKeyId: 'unknown' } });
  await t.throwsAsync(wrongKey.put('refused', 'text'), { name: 'InvalidAccessKeyId' });
  wrongKey.close();
});

test.serial(
  'killed twenty times in the middle of a put: nothing is visible in part, and what is left is removed',
  async (t) => {
    const root = await mkdtemp(join(tmpdir(), 'killed-'));
    t.teardown(() => rm(root, { recursive: true }));
    const store = folderStore(root);
    const shown = async () => (await store.list('')).map(({ size }) => size);
    const drafts = async () => (await readdir(root).catch(() => [])).length - (await shown()).length;
    const env = {
      ...process.env,
      MODULE: new URL('../folder-store.ts', import.meta.url).href,
      ROOT: root,
      SIZE: `${SIZE}`,
    };
    let torn = 0;
    for (let n = 0; n < 20; n += 1) {
      const before = await drafts();
      const child = spawn(process.execPath, ['--input-type=module', '-e', WRITER], { env, stdio: 'ignore' });
      const ended = once(child, 'exit');
      try {
        // The first are killed when their draft has been begun, the others a little later.
        await until(async () => (await drafts()) > before || child.exitCode !== null);
        for (let turn = 0; turn < n; turn += 1) await drafts();
      } finally {
        child.kill('SIGKILL');
        await ended;
      }
      if ((await drafts()) > before) torn += 1;
      for (const size of await shown()) t.is(size, SIZE, 'whole or not at all');
    }
    t.true(torn > 0, 'at least one was killed in the middle');
    t.is(await store.removeDrafts(new Date(Date.now() - 3_600_000)), 0, 'a put that is under way is left alone');
    t.is(await store.removeDrafts(new Date(Date.now() + 1000)), torn);
    t.is(await drafts(), 0);
  },
);

/** Writes the same object again, a few times at most. */
const WRITER = `
const { folderStore } = await import(process.env.MODULE);
const store = folderStore(process.env.ROOT);
const content = Buffer.alloc(Number(process.env.SIZE), 'x');
for (let n = 0; n < 50; n += 1) await store.put('object', content);
`;
