/** What a user sees of themselves and may change. */
import test from 'ava';
import { type ErrorBody, sharedPlatform, tenant } from '#test';

// A login is by password alone here; the second factor has tests of its own.
const platform = await sharedPlatform({ ENABLE_2FA: 'false' });
platform.newcomers = true;
test.after.always(() => platform.stop());

test('/auth/me tells account, phone, second factor, place and permissions, and no secret', async (t) => {
  const { viewer, orgId } = await tenant(platform);
  await platform.sql(
    `update users set phone_number = '+491701234567', phone_verified = true, password_hash = 'hash', mfa_secret = 'sealed'
     where id = $1`,
    [viewer.id],
  );
  const { body } = await platform.call<Record<string, unknown>>('GET', '/auth/me', { token: viewer.token });
  t.like(body, {
    ...{ id: viewer.id, email: viewer.email, status: 'active', scope: 'organization', orgId, roleName: 'Viewer' },
    ...{ mfaEnabled: false, mfaMethod: null, mfaVerified: true, mfaRequired: false, mfaMethodAllowed: true },
    ...{ phoneNumber: '•••4567', phoneVerified: true, pendingPhoneNumber: null },
  });
  for (const secret of ['+49170', 'hash', 'sealed']) t.false(JSON.stringify(body).includes(secret), secret);
});

test('a user changes name and picture, and what is not theirs to change stays', async (t) => {
  const { viewer } = await tenant(platform);
  const patch = (body: object) =>
    platform.call<ErrorBody & { avatarUrl: string | null; name: string }>('PATCH', '/users/me', {
      token: viewer.token,
      body,
    });
  const avatarUrl = 'https://example.com/ada.png';
  t.like((await patch({ name: ' Ada ', avatarUrl })).body, { name: 'Ada', avatarUrl });
  t.like((await patch({ name: 'Grace' })).body, { name: 'Grace', avatarUrl });
  t.like((await patch({ avatarUrl: null })).body, { name: 'Grace', avatarUrl: null });
  const nothing = await patch({});
  t.deepEqual([nothing.status, nothing.body.error.message], [400, 'No updates provided']);
  for (const body of [{ avatarUrl: 'javascript:alert(1)' }, { email: 'a@example.com' }, { status: 'active' }]) {
    const { status, body: refused } = await patch(body);
    t.deepEqual([status, refused.error.details[0]?.path], [400, Object.keys(body)[0]]);
  }
  const [row] = await platform.sql('select email, status from users where id = $1', [viewer.id]);
  t.deepEqual(row, { email: viewer.email, status: 'active' });
});

test('an API key is nobody, and reads no profile', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const made = await platform.call<{ key: string }>('POST', '/api-keys', {
    token: orgAdmin.token,
    body: { orgId, name: 'Key', scopes: [] },
  });
  for (const path of ['/auth/me', '/users/me', '/auth/sessions']) {
    t.is((await platform.call('GET', path, { apiKey: made.body.key })).status, 401, path);
  }
});
