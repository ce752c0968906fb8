/** Passwords are hashed beside the work of others, not before it. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { type ErrorBody, startTestPlatform, tenant } from '#test';
import { hashingLoad, hashPassword, limitHashing } from '../../core/auth/passwords.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

const PASSWORD = 'correct horse battery';
const login = (email = `${randomUUID()}@example.com`) =>
  platform.call<ErrorBody>('POST', '/auth/login', { body: { email, password: PASSWORD } });

test.serial('while a burst of logins waits, health and everybody else are answered many times over', async (t) => {
  t.teardown(() => limitHashing({}));
  // One at a time makes the burst last, however many processors there are.
  limitHashing({ threadPoolSize: 1 });
  const { orgAdmin } = await tenant(platform);
  await platform.sql('update users set password_hash = $2 where id = $1', [orgAdmin.id, await hashPassword(PASSWORD)]);
  let waits = true;
  const burst = Promise.all(Array.from({ length: 60 }, (_, n) => login(n % 3 ? undefined : orgAdmin.email))).finally(
    () => {
      waits = false;
    },
  );
  let answered = 0;
  let most = 0;
  const lane = async (ask: () => Promise<{ status: number }>) => {
    while (waits) {
      t.is((await ask()).status, 200);
      if (hashingLoad().waiting > 0) answered += 1;
      most = Math.max(most, hashingLoad().waiting);
    }
  };
  const others = [
    lane(() => platform.call('GET', '//health')),
    lane(() => platform.call('GET', '//health/ready')),
    lane(() => platform.call('GET', '/orgs/sites', { token: orgAdmin.token })),
  ];
  const statuses = (await burst).map(({ status }) => status);
  await Promise.all(others);
  t.deepEqual(new Set(statuses), new Set([200, 401]));
  t.is(statuses.filter((status) => status === 200).length, 20);
  t.true(most > 2, `${most} passwords waited at once`);
  // On the main thread there would be one turn for others between two hashes, at best.
  t.true(answered > 60, `${answered} answers while passwords waited`);
});

test.serial('when too many wait a login is told to come back, and nobody else notices', async (t) => {
  t.teardown(() => limitHashing({}));
  limitHashing({ threadPoolSize: 1, maxWaiting: 4 });
  const burst = Promise.all(Array.from({ length: 30 }, () => login()));
  const health = await platform.call('GET', '//health');
  const answers = await burst;
  t.is(health.status, 200);
  const refused = answers.filter(({ status }) => status === 503);
  t.true(refused.length > 0);
  t.is(answers.filter(({ status }) => status === 401).length, answers.length - refused.length);
  for (const { body, headers } of refused) {
    t.is(body.error.code, 'UNAVAILABLE');
    t.is(headers.get('retry-after'), '5');
  }
  t.is((await login()).status, 401, 'and afterwards they are served again');
});
