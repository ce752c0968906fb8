/** Access tokens that are not ours, not meant for us, or no longer good. */
import { createSecretKey, hkdfSync } from 'node:crypto';
import test from 'ava';
import { type JWTPayload, SignJWT, UnsecuredJWT } from 'jose';
import { type ErrorBody, startTestPlatform, tenant, until } from '#test';

const SECRET = 'a-secret-that-only-this-test-knows-0123';
const platform = await startTestPlatform({ JWT_SECRET: SECRET });
test.after.always(() => platform.stop());

const keyOf = (secret: string) =>
  createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', 'quartermaster jwt v1', 32)));
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const now = () => Math.floor(Date.now() / 1000);

interface Forgery {
  secret?: string;
  alg?: string;
  typ?: string;
  issuer?: string;
  audience?: string;
  exp?: number;
  claims?: JWTPayload;
}
/** A token as the platform makes it, but for what is named. */
function forge(claims: JWTPayload, forgery: Forgery = {}): Promise<string> {
  const { secret = SECRET, alg = 'HS256', typ = 'at+jwt', issuer = 'quartermaster' } = forgery;
  return new SignJWT({ ...claims, ...forgery.claims })
    .setProtectedHeader({ alg, typ })
    .setIssuer(issuer)
    .setAudience(forgery.audience ?? 'quartermaster-api')
    .setIssuedAt(now() - 60)
    .setExpirationTime(forgery.exp ?? now() + 60)
    .sign(keyOf(secret));
}
const ask = (token: string) => platform.call<ErrorBody>('GET', '/auth/me', { token });

test('a token made with our key and claims is let in, and every one that differs is refused', async (t) => {
  const { orgAdmin, orgId, partner } = await tenant(platform);
  const claims = { sub: orgAdmin.id, sid: orgAdmin.sessionId, scope: 'organization', orgId, mfa: true };
  const good = await forge(claims);
  // If this one were refused, the others would be refused for the wrong reason.
  t.is((await ask(good)).status, 200);
  const [header = '', payload = '', signature = ''] = good.split('.');
  const forged: Record<string, string> = {
    'no signature': new UnsecuredJWT(claims)
      .setIssuer('quartermaster')
      .setAudience('quartermaster-api')
      .setIssuedAt()
      .setExpirationTime('1h')
      .encode(),
    'alg none with our payload': `${part({ alg: 'none', typ: 'at+jwt' })}.${payload}.`,
    'alg none with our signature': `${part({ alg: 'none', typ: 'at+jwt' })}.${payload}.${signature}`,
    'signature left out': `${header}.${payload}.`,
    'another key': await forge(claims, { secret: 'another-secret-of-enough-characters-0' }),
    'another algorithm': await forge(claims, { alg: 'HS512' }),
    'wrong audience': await forge(claims, { audience: 'quartermaster-portal' }),
    'wrong issuer': await forge(claims, { issuer: 'somebody' }),
    'wrong typ': await forge(claims, { typ: 'JWT' }),
    expired: await forge(claims, { exp: now() - 1 }),
    'tampered payload': `${header}.${part({ ...claims, mfa: false, sub: partner.id })}.${signature}`,
    'tampered signature': `${header}.${payload}.${signature.slice(0, -2)}${signature.endsWith('AA') ? 'BB' : 'AA'}`,
    'without a session': await forge(claims, { claims: { sid: undefined } }),
    "another user's session": await forge(claims, { claims: { sid: partner.sessionId } }),
    'an unknown scope': await forge(claims, { claims: { scope: 'everything' } }),
    'not a token': 'x.y.z',
  };
  for (const [name, token] of Object.entries(forged)) {
    const { status, body } = await ask(token);
    t.deepEqual([status, body.error?.code], [401, 'UNAUTHENTICATED'], name);
  }
  t.is((await ask(good)).status, 200);
});

test('claims do not widen what the session reaches', async (t) => {
  const { viewer, orgId, partnerId } = await tenant(platform);
  const claims = { sub: viewer.id, sid: viewer.sessionId, scope: 'organization', orgId, mfa: true };
  const token = await forge(claims, { claims: { scope: 'system', partnerId } });
  const { body } = await platform.call('GET', '/auth/me', { token });
  t.like(body as object, { scope: 'organization', orgId, roleName: 'Viewer' });
});

test('the token of an ended session is refused', async (t) => {
  const { orgAdmin } = await tenant(platform);
  t.is((await ask(orgAdmin.token)).status, 200);
  await platform.sql('update sessions set revoked_at = now() where id = $1', [orgAdmin.sessionId]);
  await until(async () => (await ask(orgAdmin.token)).status === 401);
  const { viewer } = await tenant(platform);
  await platform.sql('update sessions set expires_at = now() where id = $1', [viewer.sessionId]);
  t.is((await ask(viewer.token)).status, 401);
});
