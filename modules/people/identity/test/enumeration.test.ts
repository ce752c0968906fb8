/** Nobody finds out who has an account: the same answer after the same work, counted and not timed. */
import { AsyncLocalStorage } from 'node:async_hooks';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import test from 'ava';
import pg from 'pg';
import { type ErrorBody, startTestPlatform, tenant } from '#test';
import { fromSomewhere, givePassword, PASSWORD, registration } from './people.ts';

/** Set in all that a request does: what the platform reads by the clock meanwhile is not the request's. */
const requests = new AsyncLocalStorage<true>();

/** How failed attempts are recorded, a moment after the answer. */
const ATTEMPTS = 'select flush_effects($1::jsonb)';

const seen = { statements: [] as string[], attempts: 0, hashes: 0 };
const { query } = pg.Client.prototype;
pg.Client.prototype.query = function counted(this: pg.Client, ...args: unknown[]) {
  const [first] = args as [string | { text: string }];
  const text = typeof first === 'string' ? first : first.text;
  // What a transaction leaves behind is one statement, whatever is in it.
  if (text === ATTEMPTS) seen.attempts += 1;
  else if (requests.getStore()) seen.statements.push(text.replace(/flush_effects\('.*'::jsonb\)/s, 'flush_effects(…)'));
  return (query as (...all: unknown[]) => unknown).apply(this, args);
} as typeof query;
const { argon2 } = crypto;
crypto.argon2 = ((...args: Parameters<typeof argon2>) => {
  seen.hashes += 1;
  return argon2(...args);
}) as typeof argon2;
syncBuiltinESMExports();

// After the counters are in place: each connection keeps the function that it was made with.
const platform = await startTestPlatform({ TRUST_PROXY_HEADERS: 'true' });
platform.platform.server?.listener.prependListener('request', () => requests.enterWith(true));
test.after.always(() => platform.stop());

/** One request with all that it did. */
async function observed(path: string, body: object) {
  seen.statements = [];
  seen.attempts = 0;
  seen.hashes = 0;
  const { status, body: answer } = await platform.call<ErrorBody>('POST', path, { body, headers: fromSomewhere() });
  const { statements, hashes } = seen;
  await platform.platform.settle();
  return { status, answer, statements, hashes, attempts: seen.attempts };
}

/** Users in every state that must not show. */
async function accounts() {
  const { orgAdmin, viewer, partner } = await tenant(platform);
  await givePassword(platform, orgAdmin.id);
  await givePassword(platform, viewer.id);
  await platform.sql(`update users set status = 'disabled' where id = $1`, [viewer.id]);
  await platform.sql(`update users set status = 'invited' where id = $1`, [partner.id]);
  return { active: orgAdmin.email, disabled: viewer.email, invited: partner.email, unknown: registration().email };
}

test.serial('counting counts', async (t) => {
  const { active } = await accounts();
  const right = await observed('/auth/login', { email: active, password: PASSWORD });
  const wrong = await observed('/auth/login', { email: active, password: 'x' });
  t.is(right.status, 200);
  t.true(right.statements.length > wrong.statements.length && wrong.statements.length > 0);
  t.is(right.hashes, 1);
});

test.serial('login: one answer, as many queries and one hash for every address', async (t) => {
  const { active, disabled, invited, unknown } = await accounts();
  const expected = await observed('/auth/login', { email: unknown, password: PASSWORD });
  t.deepEqual([expected.status, expected.hashes, expected.attempts], [401, 1, 1]);
  const others = [
    { email: active, password: 'wrong' },
    { email: disabled, password: PASSWORD },
    { email: disabled, password: 'wrong' },
    { email: invited, password: PASSWORD },
  ];
  for (const body of others) t.deepEqual(await observed('/auth/login', body), expected, body.email);
});

test.serial('forgot-password: one answer and as many queries for every address', async (t) => {
  const { active, disabled, invited, unknown } = await accounts();
  const expected = await observed('/auth/forgot-password', { email: unknown });
  t.deepEqual([expected.status, expected.hashes], [200, 0]);
  for (const email of [active, disabled, invited]) {
    t.deepEqual(await observed('/auth/forgot-password', { email }), expected, email);
  }
});

test.serial('register: one answer, as many queries and one hash for a new and a taken address', async (t) => {
  const { companyName: _, ...body } = registration();
  const made = await observed('/auth/register', body);
  t.deepEqual([made.status, made.hashes], [201, 1]);
  t.deepEqual(await observed('/auth/register', body), made);
});

test.serial('register-partner: for taken addresses one answer, and the hash of a new one', async (t) => {
  const { active, disabled, invited } = await accounts();
  const made = await observed('/auth/register-partner', registration());
  t.deepEqual([made.status, made.hashes], [201, 1]);
  const expected = await observed('/auth/register-partner', { ...registration(), email: active });
  t.deepEqual([expected.status, expected.hashes], [200, 1]);
  t.deepEqual(Object.keys(expected.answer), ['success', 'message']);
  for (const email of [disabled, invited]) {
    t.deepEqual(await observed('/auth/register-partner', { ...registration(), email }), expected, email);
  }
});
