/** Signed tokens: what is accepted, and everything that is not. */
import { createHmac, hkdfSync } from 'node:crypto';
import test from 'ava';
import { SignJWT } from 'jose';
import { type AccessClaims, createTokenSigner } from '../tokens.ts';

const secret = 'a secret of the test';
const claims: AccessClaims = {
  sub: 'user',
  sid: 'session',
  scope: 'organization',
  orgId: 'org',
  roleId: 'r',
  mfa: true,
};
const start = Date.UTC(2031, 0, 1);
const invalid = { code: 'INVALID_TOKEN' };
const key = Buffer.from(hkdfSync('sha256', secret, '', 'quartermaster jwt v1', 32));

function signerAt(clock = { ms: start }, cacheSize = 5000) {
  return createTokenSigner({ secret, now: () => clock.ms, cacheSize });
}

/** A token with the right key and, where not changed, the right everything. */
function forge({ alg = 'HS256', typ = 'at+jwt', iss = 'quartermaster', aud = 'quartermaster-api', ...other } = {}) {
  const payload = { ...claims, iss, aud, iat: start / 1000, exp: start / 1000 + 900, ...other };
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg, typ })}.${part(payload)}`;
  const hash = alg === 'HS512' ? 'sha512' : 'sha256';
  return `${signed}.${alg === 'none' ? '' : createHmac(hash, key).update(signed).digest('base64url')}`;
}

test('a signed token gives its claims back, with when it was issued and ends', async (t) => {
  const signer = signerAt();
  const verified = await signer.verify(await signer.sign(claims, 900));
  t.like(verified, { ...claims, iat: start / 1000, exp: start / 1000 + 900 });
  t.is(verified.partnerId, undefined);
});

test('a well-forged token is accepted, so that the next tests refuse for their own reason', async (t) => {
  t.is((await signerAt().verify(forge())).sub, 'user');
});

const refused = {
  'without a signature': forge({ alg: 'none' }),
  'by another algorithm': forge({ alg: 'HS512' }),
  'of another type': forge({ typ: 'JWT' }),
  'of another issuer': forge({ iss: 'someone' }),
  'for another audience': forge({ aud: 'quartermaster-mfa' }),
  'that has expired': forge({ exp: start / 1000 } as object),
  'that never ends': forge({ exp: undefined } as object),
  'without a session': forge({ sid: undefined } as object),
  'of an unknown scope': forge({ scope: 'root' } as object),
  'whose second factor is not yes or no': forge({ mfa: 'true' } as object),
  'whose organization is not text': forge({ orgId: 7 } as object),
  'with a changed signature': `${forge().slice(0, -6)}AAAAAA`,
  'of absurd length': forge({ roleId: 'x'.repeat(5000) } as object),
  'that is none': 'nonsense',
  'that is empty': '',
};
for (const [title, token] of Object.entries(refused)) {
  test(`a token ${title} is refused`, async (t) => {
    await t.throwsAsync(signerAt().verify(token), invalid);
  });
}

test('a token signed with another secret is refused', async (t) => {
  const other = createTokenSigner({ secret: 'another', now: () => start });
  await t.throwsAsync(signerAt().verify(await other.sign(claims, 900)), invalid);
});

test('the secret itself is not the key', async (t) => {
  const token = await new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' })
    .setIssuer('quartermaster')
    .setAudience('quartermaster-api')
    .setIssuedAt(start / 1000)
    .setExpirationTime(start / 1000 + 900)
    .sign(Buffer.from(secret.padEnd(32)));
  await t.throwsAsync(signerAt().verify(token), invalid);
});

test('a token ends on time, remembered or not', async (t) => {
  for (const cacheSize of [0, 10]) {
    const clock = { ms: start };
    const signer = signerAt(clock, cacheSize);
    const token = await signer.sign(claims, 60);
    clock.ms = start + 59_999;
    await signer.verify(token);
    clock.ms = start + 60_000;
    await t.throwsAsync(signer.verify(token), invalid);
    await t.throwsAsync(signer.verify(token), invalid);
  }
});

test('a verified token is remembered, frozen, until newer ones push it out', async (t) => {
  const signer = signerAt({ ms: start }, 2);
  const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((sub) => signer.sign({ ...claims, sub }, 60)));
  if (a === undefined || b === undefined || c === undefined) return t.fail();
  const [first, second] = [await signer.verify(a), await signer.verify(b)];
  t.is(await signer.verify(a), first);
  await signer.verify(c);
  t.is(await signer.verify(a), first, 'used more recently');
  t.not(await signer.verify(b), second, 'pushed out');
  t.true(Object.isFrozen(first));
});

test('a remembered token does not vouch for one that differs in the signature', async (t) => {
  const signer = signerAt();
  const token = await signer.sign(claims, 60);
  await signer.verify(token);
  await t.throwsAsync(signer.verify(`${token.slice(0, -6)}AAAAAA`), invalid);
});

test('a token for one purpose is nothing to another', async (t) => {
  const pending = createTokenSigner({
    secret,
    audience: 'quartermaster-mfa',
    now: () => start,
    readClaims: ({ sub }) => (typeof sub === 'string' ? { sub } : undefined),
  });
  const token = await pending.sign({ sub: 'user' }, 300);
  t.is((await pending.verify(token)).sub, 'user');
  await t.throwsAsync(signerAt().verify(token), invalid);
  await t.throwsAsync(pending.verify(await signerAt().sign(claims, 900)), invalid);
});

test('an empty secret is refused', (t) => {
  t.throws(() => createTokenSigner({ secret: '' }), { instanceOf: RangeError });
});
