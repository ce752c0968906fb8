/** Registering, naming and removing the own passkeys. */
import { randomBytes } from 'node:crypto';
import test from 'ava';
import pg from 'pg';
import { apiKey, orgUser, sharedPlatform, tenant } from '#test';
import { certificate, certificateKey } from './attestation-certificate.ts';
import { type Lies, newKey, ORIGIN, RP_ID, softAuthenticator } from './authenticator.ts';
import { calls, NOWHERE, type Shown } from './people.ts';

const platform = await sharedPlatform({ TRUST_PROXY_HEADERS: 'true', PUBLIC_URL: ORIGIN });
platform.newcomers = true;
test.after.always(() => platform.stop());
const { begin, finish, register, login, list, owner, mails } = calls(platform);

const change = (method: string, id: string, token: string, body?: object) =>
  platform.call<{ data: Shown; error: { code: string } }>(method, `/auth/passkeys/${id}`, {
    token,
    ...(body ? { body } : {}),
  });

test('the options ask for a discoverable, verifying passkey of this host, and say nothing about the person', async (t) => {
  const { orgAdmin, key } = await owner();
  const { challengeId, options } = (await begin(orgAdmin.token)).body;
  t.like(options, {
    rp: { id: RP_ID, name: 'Quartermaster' },
    attestation: 'none',
    timeout: 300_000,
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    user: { name: orgAdmin.email },
  });
  t.deepEqual(
    options.pubKeyCredParams.map(({ alg }) => alg),
    [-8, -7, -257],
  );
  t.deepEqual(
    options.excludeCredentials?.map(({ id }) => id),
    [key.id],
  );
  t.is(Buffer.from(options.user.id, 'base64url').toString('hex'), orgAdmin.id.replaceAll('-', ''));
  t.is(Buffer.from(options.challenge, 'base64url').length, 32);
  t.not((await begin(orgAdmin.token)).body.challengeId, challengeId);
});

// Serial, like the other test that runs jobs: each must see its own through.
test.serial(
  'a passkey is registered, listed, renamed and removed; each step is audited, and its owner hears of it',
  async (t) => {
    const { orgAdmin, orgId } = await tenant(platform);
    const { token } = orgAdmin;
    const key = softAuthenticator({ backupEligible: true });
    const made = await register(token, key);
    t.is(made.status, 201);
    const expected = {
      name: 'Laptop',
      credentialId: key.id,
      deviceType: 'multiDevice',
      backedUp: true,
      transports: ['internal', 'hybrid'],
      aaguid: 'd548826e-79b4-db40-a3d8-11116f7e8349',
      lastUsedAt: null,
    };
    t.like(made.body.data, expected);
    t.false(JSON.stringify(made.body).includes('publicKey'));
    const second = (await register(token)).body.data;
    t.deepEqual(
      (await list(token)).body.data.map(({ id }) => id),
      [second.id, made.body.data.id],
    );
    const { id } = made.body.data;
    t.like((await change('PATCH', id, token, { name: '  Phone ' })).body.data, { ...expected, name: 'Phone' });
    t.is((await change('PATCH', id, token, {})).body.error.code, 'NO_UPDATES');
    t.is((await change('PATCH', id, token, { name: 'x'.repeat(101) })).status, 400);
    t.is((await change('DELETE', id, token)).status, 200);
    t.is((await change('DELETE', id, token)).status, 404);
    t.is((await list(token)).body.data.length, 1);
    const seen = (await platform.audits({ orgId })).filter((entry) => entry.resource_id === id);
    t.deepEqual(
      seen.map((entry) => [entry.action, entry.actor_id, entry.details]),
      [
        [
          'auth.passkey.create',
          orgAdmin.id,
          { deviceType: 'multiDevice', backedUp: true, aaguid: 'd548826e-79b4-db40-a3d8-11116f7e8349' },
        ],
        [
          'auth.passkey.update',
          orgAdmin.id,
          { changedFields: ['name'], before: { name: expected.name }, after: { name: 'Phone' } },
        ],
        ['auth.passkey.delete', orgAdmin.id, {}],
      ],
    );
    const sent = await mails(orgAdmin.email);
    t.is(sent.filter((mail) => mail.includes('a passkey was added to your account')).length, 2);
    t.is(sent.filter((mail) => mail.includes('a passkey was removed from your account')).length, 1);
  },
);

test('the list pages in both forms, newest first', async (t) => {
  const { orgAdmin } = await owner();
  await register(orgAdmin.token);
  await register(orgAdmin.token);
  const get = (query: string) =>
    platform.call<{ data: Shown[]; pagination: { total: number; cursor: string | null } }>(
      'GET',
      `/auth/passkeys?${query}`,
      { token: orgAdmin.token },
    );
  t.like((await get('page=2&limit=2')).body.pagination, { total: 3 });
  const first = (await get('cursor=&limit=2')).body;
  const rest = (await get(`cursor=${first.pagination.cursor}&limit=2`)).body;
  const ids = [...first.data, ...rest.data].map(({ id }) => id);
  t.deepEqual(
    ids,
    (await list(orgAdmin.token)).body.data.map(({ id }) => id),
  );
});

const refused: Record<string, Lies> = {
  'another origin': { origin: 'https://evil.example' },
  'another port of the same host': { origin: 'http://localhost:3001' },
  'another host as relying party': { rpId: 'evil.example' },
  'another challenge': { challenge: randomBytes(32).toString('base64url') },
  'the other ceremony': { type: 'webauthn.get' },
  'a frame of another page': { crossOrigin: true },
  'a frame of another page, named': { crossOrigin: true, topOrigin: 'https://evil.example' },
  'no verified user': { verified: false },
  'no present user': { present: false },
  'a credential id beyond the standard': { credentialId: randomBytes(1024) },
  'a statement by another key': { format: 'packed', key: newKey() },
  // Valid in itself: without the refusal it would be accepted.
  'an attestation by a certificate': { format: 'packed', certificate: { der: certificate, key: certificateKey } },
  'an attestation that was not asked for': { format: 'fido-u2f' },
};
for (const [what, lies] of Object.entries(refused)) {
  test(`an answer with ${what} registers nothing and uses its challenge up`, async (t) => {
    const { orgAdmin } = await tenant(platform);
    const key = softAuthenticator();
    const { challengeId, options } = (await begin(orgAdmin.token)).body;
    const answer = await finish(orgAdmin.token, challengeId, key.create(options, lies));
    t.is(answer.status, 400);
    t.is(answer.body.error.code, 'PASSKEY_INVALID');
    t.deepEqual((await list(orgAdmin.token)).body.data, []);
    const again = await finish(orgAdmin.token, challengeId, key.create(options));
    t.is(again.body.error.code, 'CHALLENGE_INVALID');
  });
}

test('a statement that the new key signed itself is accepted, as browsers pass it on', async (t) => {
  const { orgAdmin } = await tenant(platform);
  t.is((await register(orgAdmin.token, softAuthenticator(), { format: 'packed' })).status, 201);
});

test('bytes that are no attestation are refused, and a body with unknown fields too', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const { token } = orgAdmin;
  for (const field of ['attestationObject', 'clientDataJSON'] as const) {
    const { challengeId, options } = (await begin(token)).body;
    const made = softAuthenticator().create(options);
    made.response[field] = randomBytes(50).toString('base64url');
    t.is((await finish(token, challengeId, made)).body.error.code, 'PASSKEY_INVALID', field);
  }
  const { challengeId, options } = (await begin(token)).body;
  const response = softAuthenticator().create(options);
  const body = { challengeId, name: 'x', response, admin: true };
  t.is((await platform.call('POST', '/auth/passkeys', { token, body })).status, 400);
});

test('a challenge is good once, also for two answers at once, for five minutes, and in its own session only', async (t) => {
  const { orgAdmin, viewer } = await tenant(platform);
  const { token } = orgAdmin;
  const first = (await begin(token)).body;
  const both = await Promise.all(
    [1, 2].map(() => finish(token, first.challengeId, softAuthenticator().create(first.options))),
  );
  t.deepEqual(both.map(({ status }) => status).sort(), [201, 400]);
  t.is((await list(token)).body.data.length, 1);

  const late = (await begin(token)).body;
  await platform.sql('update passkey_challenges set expires_at = now() where id = $1', [late.challengeId]);
  const tooLate = await finish(token, late.challengeId, softAuthenticator().create(late.options));
  t.is(tooLate.body.error.code, 'CHALLENGE_INVALID');

  const key = softAuthenticator();
  await register(token, key);
  const elsewhere = (await login(key)).body.tokens.accessToken;
  const mine = (await begin(token)).body;
  const response = softAuthenticator().create(mine.options);
  t.is((await finish(viewer.token, mine.challengeId, response)).body.error.code, 'CHALLENGE_INVALID');
  t.is((await finish(elsewhere, mine.challengeId, response)).body.error.code, 'CHALLENGE_INVALID');
  t.is((await finish(token, NOWHERE, response)).body.error.code, 'CHALLENGE_INVALID');
  t.is((await finish(token, mine.challengeId, response)).status, 201);
});

test('a credential belongs to one account for good', async (t) => {
  const { viewer, orgAdmin, key } = await owner();
  for (const { token } of [orgAdmin, viewer]) {
    const { challengeId, options } = (await begin(token)).body;
    t.is((await finish(token, challengeId, key.create(options))).body.error.code, 'PASSKEY_KNOWN');
  }
  t.deepEqual((await list(viewer.token)).body.data, []);
});

test('nobody sees, renames or removes the passkey of somebody else, and API keys reach none', async (t) => {
  const { orgAdmin, orgId, viewer, partner, passkey } = await owner();
  await platform.sql('update users set mfa_enabled = true, mfa_method = $2 where id = $1', [partner.id, 'totp']);
  for (const { token } of [viewer, partner]) {
    t.is((await change('PATCH', passkey.id, token, { name: 'Mine' })).status, 404);
    t.is((await change('DELETE', passkey.id, token)).status, 404);
    t.deepEqual((await list(token)).body.data, []);
  }
  t.is((await list(orgAdmin.token)).body.data[0]?.name, 'Laptop');
  const key = await apiKey(platform, { orgId, scopes: ['*'], createdBy: orgAdmin.id });
  t.is((await platform.call('GET', '/auth/passkeys', { apiKey: key })).status, 401);
});

test.serial('a user has at most 20 passkeys, also when two more are registered at once', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const { token } = orgAdmin;
  const [one, two] = [(await begin(token)).body, (await begin(token)).body];
  await platform.sql(
    `insert into passkeys (user_id, credential_id, public_key, counter, device_type, backed_up, aaguid, name)
     select $1::uuid, 'filler' || n || $1::uuid, '', 0, 'singleDevice', false, $2, 'Filler' from generate_series(1, 19) n`,
    [orgAdmin.id, NOWHERE],
  );
  // Both have counted, or wait for their turn to, before either may add.
  const gate = new pg.Client({ connectionString: platform.databaseUrl });
  await gate.connect();
  await gate.query('begin; lock table passkeys in share mode');
  const both = [one, two].map(({ challengeId, options }) =>
    finish(token, challengeId, softAuthenticator().create(options)),
  );
  const waiting = `select 1 from pg_locks where not granted and pid in
    (select pid from pg_stat_activity where datname = current_database())`;
  const end = Date.now() + 20_000;
  while (((await gate.query(waiting)).rowCount ?? 0) < 2 && Date.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await gate.query('commit');
  await gate.end();
  const answers = await Promise.all(both);
  t.deepEqual(answers.map(({ status }) => status).sort(), [201, 409]);
  const refusal = await begin(token);
  t.is(refusal.status, 409);
  t.is(refusal.body.error.code, 'PASSKEY_LIMIT_REACHED');
});

test('passkeys are added and removed within 15 minutes of a login only', async (t) => {
  const { orgAdmin, passkey, orgId } = await owner();
  const { token, sessionId } = orgAdmin;
  const begun = (await begin(token)).body;
  const age = (minutes: number) =>
    platform.sql(`update sessions set created_at = now() - make_interval(mins => $2) where id = $1`, [
      sessionId,
      minutes,
    ]);
  await age(16);
  const refusal = await begin(token);
  t.is(refusal.status, 403);
  t.is(refusal.body.error.code, 'REAUTHENTICATION_REQUIRED');
  t.is((await change('DELETE', passkey.id, token)).body.error.code, 'REAUTHENTICATION_REQUIRED');
  t.is((await change('PATCH', passkey.id, token, { name: 'Still' })).status, 200);
  const begunInTime = await finish(token, begun.challengeId, softAuthenticator().create(begun.options));
  t.is(begunInTime.status, 201, 'what began in time may end');
  await age(14);
  t.is((await begin(token)).status, 200);
  t.is((await change('DELETE', passkey.id, token)).status, 200);
  const denied = (await platform.audits({ orgId, action: 'auth.passkey.delete' })).map(({ result }) => result);
  t.deepEqual(denied.sort(), ['denied', 'success']);
});

test('a session must show the second factor that its user enrolled, and a Force MFA role enrolls one first', async (t) => {
  const { orgId, partner } = await tenant(platform);
  const weak = await orgUser(platform, { orgId, mfa: false });
  t.is((await begin(weak.token)).status, 200, 'none is enrolled');
  const both = await orgUser(platform, { orgId, mfa: false });
  await platform.sql(`update users set mfa_enabled = true, mfa_method = 'totp' where id = $1`, [both.id]);
  t.is((await begin(both.token)).body.error.code, 'MFA_VERIFICATION_REQUIRED');
  t.is((await begin(partner.token)).status, 428);
  t.is((await platform.call('POST', '/auth/passkeys/options', { body: {} })).status, 401);
});

test('with the account go its passkeys and challenges', async (t) => {
  const { orgAdmin } = await owner();
  await begin(orgAdmin.token);
  const count = async (table: string) =>
    (await platform.sql(`select 1 from ${table} where user_id = $1`, [orgAdmin.id])).length;
  t.deepEqual([await count('passkeys'), await count('passkey_challenges')], [1, 1]);
  await platform.sql('delete from users where id = $1', [orgAdmin.id]);
  t.deepEqual([await count('passkeys'), await count('passkey_challenges')], [0, 0]);
});

test.serial('challenges that nobody answered are swept away, and those that still count stay', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const [old, fresh] = [(await begin(orgAdmin.token)).body, (await begin(orgAdmin.token)).body];
  await platform.sql(`update passkey_challenges set expires_at = now() - interval '1 second' where id = $1`, [
    old.challengeId,
  ]);
  await platform.sql(
    `select graphile_worker.add_job('passkeys/sweep-challenges', '{"orgId":null,"requestId":"t","data":{}}')`,
  );
  await platform.runJobs();
  const left = await platform.sql('select id from passkey_challenges where user_id = $1', [orgAdmin.id]);
  t.deepEqual(left, [{ id: fresh.challengeId }]);
});
