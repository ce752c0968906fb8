/** Password hashes, and the queue before them. */
import { argon2Sync } from 'node:crypto';
import test from 'ava';
import {
  hashingLoad,
  hashPassword,
  limitHashing,
  maxPasswordBytes,
  needsRehash,
  verifyDummy,
  verifyPassword,
} from '../passwords.ts';

function phc(memory: number, passes: number, password: string): string {
  const salt = Buffer.alloc(16, 7);
  const tag = argon2Sync('argon2id', { message: password, nonce: salt, parallelism: 1, tagLength: 32, memory, passes });
  const text = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
  return `$argon2id$v=19$m=${memory},t=${passes},p=1$${text(salt)}$${text(tag)}`;
}

test.serial('a password fits its own hash and no other password does', async (t) => {
  const hash = await hashPassword('correct horse');
  t.regex(hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  t.true(await verifyPassword('correct horse', hash));
  t.false(await verifyPassword('correct horse ', hash));
  t.false(await verifyPassword('', hash));
});

test.serial('the same password has another hash each time', async (t) => {
  t.not(await hashPassword('correct horse'), await hashPassword('correct horse'));
});

test.serial('a hash made elsewhere with another cost is understood and should be made anew', async (t) => {
  const hash = phc(64, 3, 'from elsewhere');
  t.true(await verifyPassword('from elsewhere', hash));
  t.false(await verifyPassword('from nowhere', hash));
  t.true(needsRehash(hash));
  t.false(needsRehash(await hashPassword('a password')));
  t.true(needsRehash('nonsense'));
});

test.serial('however a letter was typed, the password is the same', async (t) => {
  const hash = await hashPassword('caf\u00e9 \ufb01n');
  t.true(await verifyPassword('cafe\u0301 fin', hash));
});

test.serial('what is not a hash of ours, or one of absurd cost, fits nothing', async (t) => {
  const good = phc(64, 1, 'password');
  const bad = ['', 'password', good.slice(0, -20), good.replace('argon2id', 'argon2i'), `${good}$`, `${good}\n`];
  bad.push(good.replace('m=64', 'm=9999999'), good.replace('t=1', 't=99'), good.replace('p=1', 'p=0'));
  for (const hash of bad) t.false(await verifyPassword('password', hash), hash);
});

test.serial('a password above 1,024 bytes is refused without work', async (t) => {
  const long = 'ä'.repeat(maxPasswordBytes / 2);
  t.true(await verifyPassword(long, await hashPassword(long)));
  await t.throwsAsync(hashPassword(`${long}a`), { code: 'PASSWORD_TOO_LONG' });
  t.false(await verifyPassword(`${long}a`, phc(64, 1, `${long}a`)));
});

test.serial('a user who does not exist costs the work of one who does', async (t) => {
  const hash = await hashPassword('a password');
  const least = { real: Number.POSITIVE_INFINITY, dummy: Number.POSITIVE_INFINITY };
  // In turns and by the least of many, because the machine does other things too.
  for (let i = 0; i < 15; i++) {
    const started = performance.now();
    t.false(await verifyPassword('wrong', hash));
    const between = performance.now();
    t.false(await verifyDummy('wrong'));
    least.real = Math.min(least.real, between - started);
    least.dummy = Math.min(least.dummy, performance.now() - between);
  }
  t.true(least.dummy > least.real / 3 && least.dummy < least.real * 3, JSON.stringify(least));
});

test.serial('hashing leaves two threads of the pool free, keeps its order and refuses beyond the queue', async (t) => {
  t.teardown(() => limitHashing({}));
  limitHashing({ threadPoolSize: 3, maxWaiting: 3 });
  const done: number[] = [];
  const work = [0, 1, 2, 3].map((i) => verifyDummy('a password').then(() => done.push(i)));
  t.deepEqual(hashingLoad(), { running: 1, waiting: 3 });
  await t.throwsAsync(hashPassword('one too many'), { code: 'PASSWORD_QUEUE_FULL' });
  await Promise.all(work);
  t.deepEqual(done, [0, 1, 2, 3]);
  t.deepEqual(hashingLoad(), { running: 0, waiting: 0 });
});

test.serial('with the usual four threads two hashes run at once, and with few threads one', async (t) => {
  t.teardown(() => limitHashing({}));
  for (const [threadPoolSize, running] of [
    [4, 2],
    [8, 6],
    [1, 1],
  ] as const) {
    limitHashing({ threadPoolSize });
    const work = Array.from({ length: 7 }, () => verifyDummy('a password'));
    t.deepEqual(hashingLoad(), { running, waiting: 7 - running });
    await Promise.all(work);
  }
});

test.serial('the main thread goes on while passwords are hashed', async (t) => {
  let turns = 0;
  let running = true;
  const work = Promise.all([hashPassword('a'), hashPassword('b')]).then(() => {
    running = false;
  });
  while (running) {
    turns++;
    await new Promise((resolve) => setImmediate(resolve));
  }
  await work;
  t.true(turns > 10, `${turns} turns`);
});
