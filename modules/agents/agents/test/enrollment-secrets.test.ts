/** Enrollment where the operator set AGENT_ENROLLMENT_SECRET. */
import test from 'ava';
import { type ErrorBody, enrollmentBody, enrollmentKey, startTestPlatform, tenant } from '#test';

const SECRET = 'correct horse battery staple';
const platform = await startTestPlatform({ AGENT_ENROLLMENT_SECRET: SECRET });
test.after.always(() => platform.stop());

test('the secret may be in the body or the header, and without it no machine enrolls', async (t) => {
  const { orgId, siteId } = await tenant(platform);
  const key = await enrollmentKey(platform, { orgId, siteId });
  const enroll = (change: object = {}, headers: Record<string, string> = {}) =>
    platform.call<ErrorBody>('POST', '/agents/enroll', { body: enrollmentBody(key, change), headers });
  for (const answer of [await enroll(), await enroll({ enrollmentSecret: `${SECRET}!` })]) {
    t.is(answer.status, 403);
    t.is(answer.body.error.code, 'ENROLLMENT_SECRET_INVALID');
  }
  const [before] = await platform.sql<{ used: number }>(
    'select usage_count as used from enrollment_keys where org_id = $1',
    [orgId],
  );
  t.is(before?.used, 0);
  t.is((await enroll({ enrollmentSecret: SECRET })).status, 201);
  t.is((await enroll({}, { 'x-agent-enrollment-secret': SECRET })).status, 201);
  const unknown = await platform.call<ErrorBody>('POST', '/agents/enroll', { body: enrollmentBody('0'.repeat(64)) });
  t.is(
    unknown.body.error.code,
    'ENROLLMENT_FAILED',
    'without a key the error does not tell whether the secret is right',
  );
});
