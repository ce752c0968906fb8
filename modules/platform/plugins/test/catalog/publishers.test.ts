/** Who may publish what: a slug belongs to the key that signed it first, marks stand at a version, and none goes back unasked. */
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import test from 'ava';
import { keyFingerprint, signPackage } from '#plugin-sdk/host';
import { openGround, openTenant, type Refused, type Shown } from '../ground.ts';
import { newSlug, pack, wants } from '../packages.ts';

const rawOf = (key: KeyObject) => key.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64');
const [ours, theirs] = [generateKeyPairSync('ed25519'), generateKeyPairSync('ed25519')];
const ground = await openGround({
  PLUGINS_TRUST_KEYS: `ours:${rawOf(ours.publicKey)},theirs:${rawOf(theirs.publicKey)}`,
});
test.after.always(() => ground.stop());

interface Answer {
  status: number;
  code: string | undefined;
  details: Record<string, unknown>[];
  data: { version: string; isVerified: boolean; publisherKey: string | null; publisherFingerprint: string | null };
}
const KEYS = { ours, theirs, nobodys: null };

async function register(slug: string, version: string, by: keyof typeof KEYS, query = '', more = {}): Promise<Answer> {
  const { content } = await pack({ slug, version, ...more }, 'export default {};');
  const key = KEYS[by];
  const headers: Record<string, string> = key ? { 'x-plugin-signature': signPackage(content, by, key.privateKey) } : {};
  const answer = await ground.upload(content, undefined, headers, query);
  const body = answer.body as Partial<Refused> & Pick<Answer, 'data'>;
  return { status: answer.status, code: body.error?.code, details: body.error?.details ?? [], data: body.data };
}
async function decisionsOf(slug: string): Promise<unknown[]> {
  const [entry] = await ground.platform.sql<{ id: string }>('select id from plugin_catalog where slug = $1', [slug]);
  const seen = await ground.platform.audits({ action: 'plugin.catalog.register' });
  return seen
    .filter((one) => one.resource_id === entry?.id && one.details.decided)
    .map(({ details }) => details.decided);
}

test('a slug belongs to the key that signed it first, until an operator gives it to another', async (t) => {
  const slug = newSlug();
  const first = await register(slug, '1.0.0', 'ours');
  const fingerprint = keyFingerprint({ id: 'ours', publicKey: rawOf(ours.publicKey) });
  t.like(first.data, { publisherKey: 'ours', publisherFingerprint: fingerprint });
  for (const by of ['theirs', 'nobodys'] as const) {
    const refused = await register(slug, '1.1.0', by);
    t.deepEqual([refused.status, refused.code], [409, 'PUBLISHER_MISMATCH']);
    t.deepEqual(refused.details, [{ path: 'signature', expected: 'ours', given: by === 'theirs' ? 'theirs' : null }]);
  }
  t.is((await register(slug, '1.1.0', 'ours')).status, 201);
  const taken = await register(slug, '1.2.0', 'theirs', '?changePublisher=true');
  t.like(taken, { status: 201, data: { publisherKey: 'theirs', version: '1.2.0' } });
  t.is((await register(slug, '1.3.0', 'ours')).code, 'PUBLISHER_MISMATCH');
  t.like((await decisionsOf(slug))[0], {
    publisher: { before: { key: 'ours', fingerprint }, after: { key: 'theirs' } },
  });
});

test('another key under the same id is another publisher', async (t) => {
  const slug = newSlug();
  await register(slug, '1.0.0', 'ours');
  await ground.platform.sql('update plugin_catalog set publisher_fingerprint = $2 where slug = $1', [
    slug,
    'a'.repeat(64),
  ]);
  t.is((await register(slug, '1.1.0', 'ours')).code, 'PUBLISHER_MISMATCH');
});

test('a plugin that is not signed goes on without a signature, and is nobody else’s to sign', async (t) => {
  const slug = newSlug();
  t.is((await register(slug, '1.0.0', 'nobodys')).data.publisherKey, null);
  t.is((await register(slug, '1.1.0', 'nobodys')).status, 201);
  t.is((await register(slug, '1.2.0', 'theirs')).code, 'PUBLISHER_MISMATCH');
});

test('the same package once more, signed, takes no plugin over, and a key that an operator changes takes the mark away', async (t) => {
  const slug = newSlug();
  const { content } = await pack({ slug, version: '1.0.0' }, 'export default {};');
  t.is((await ground.upload(content)).status, 201);
  const path = `/plugins/catalog/${slug}`;
  const mark = { token: ground.admin.token, body: { isVerified: true } };
  t.is((await ground.platform.call('PATCH', path, mark)).status, 200);
  const again = async (query = '') => {
    const headers = { 'x-plugin-signature': signPackage(content, 'theirs', theirs.privateKey) };
    return ground.upload(content, undefined, headers, query);
  };
  const shown = async () =>
    (await ground.platform.call<{ data: Answer['data'] }>('GET', path, { token: ground.admin.token })).body.data;
  t.is(((await again()).body as Refused).error.code, 'PUBLISHER_MISMATCH');
  t.like(await shown(), { publisherKey: null, isVerified: true });
  t.is((await again('?changePublisher=true')).status, 201);
  t.like(await shown(), { publisherKey: 'theirs', isVerified: false });
  t.like((await decisionsOf(slug))[0], { publisher: { before: { key: null }, after: { key: 'theirs' } } });
});

test('names of plugins that come with the server are theirs, registered or not', async (t) => {
  t.is((await register('warranty', '9.0.0', 'ours', '?changePublisher=true')).code, 'SLUG_RESERVED');
  await ground.platform.sql(
    `with gone as (delete from plugin_versions v using plugin_catalog c where c.id = v.catalog_id and c.slug = 'ntfy-push')
     select 1`,
  );
  await ground.platform.sql(`delete from plugin_catalog where slug = 'ntfy-push'`);
  t.is((await register('ntfy-push', '1.0.0', 'ours')).code, 'SLUG_RESERVED');
});

test('a lower version is taken only when an operator says so', async (t) => {
  const slug = newSlug();
  await register(slug, '2.0.0', 'ours');
  const refused = await register(slug, '1.9.0', 'ours');
  t.deepEqual(
    [refused.code, refused.details],
    ['VERSION_DOWNGRADE', [{ path: 'version', highest: '2.0.0', given: '1.9.0' }]],
  );
  t.is((await register(slug, '1.9.0', 'ours', '?allowDowngrade=true')).status, 201);
  t.deepEqual(await decisionsOf(slug), [{ version: { before: '2.0.0', after: '1.9.0' } }]);
});

test('verified is a version: a newer one is not until the operator has looked at it', async (t) => {
  const slug = newSlug();
  const more = { permissions: wants('scripts:execute') };
  await register(slug, '1.0.0', 'ours', '', more);
  const mark = (isVerified: boolean) =>
    ground.platform.call<{ data: { isVerified: boolean } }>('PATCH', `/plugins/catalog/${slug}`, {
      token: ground.admin.token,
      body: { isVerified },
    });
  t.true((await mark(true)).body.data.isVerified);
  t.false((await register(slug, '1.1.0', 'ours', '', more)).data.isVerified);
  const at = await openTenant(ground);
  const install = (version: string) =>
    at.call<Partial<Refused>>('POST', '/plugins/installations', {
      slug,
      version,
      grantPermissions: ['scripts:execute'],
    });
  const refused = await install('1.1.0');
  t.is(refused.status, 400);
  t.regex(refused.body.error?.message ?? '', /only for versions of plugins that the operator has verified/);
  const installed = await install('1.0.0');
  t.not(installed.body.error?.message, refused.body.error?.message);
  if (installed.status !== 202) return;
  await ground.platform.runJobs();
  const { id } = (installed.body as unknown as { data: Shown }).data;
  const moved = await at.call<Partial<Refused>>('PATCH', `/plugins/installations/${id}`, { version: '1.1.0' });
  t.is(moved.status, 400, 'what it was granted does not go on to a version that nobody has looked at');
});

test('an installation goes back to a lower version only when it is told to', async (t) => {
  const slug = newSlug();
  await register(slug, '1.0.0', 'ours');
  await register(slug, '1.1.0', 'ours');
  const at = await openTenant(ground);
  const made = await at.call<{ data: Shown }>('POST', '/plugins/installations', { slug, grantPermissions: [] });
  const { id } = made.body.data;
  await ground.platform.runJobs();
  const path = `/plugins/installations/${id}`;
  const refused = await at.call<Partial<Refused>>('PATCH', path, { version: '1.0.0' });
  t.deepEqual([refused.status, refused.body.error?.code], [409, 'VERSION_DOWNGRADE']);
  t.is((await at.call('PATCH', path, { allowDowngrade: true })).status, 400, 'says nothing by itself');
  t.is((await at.call('PATCH', path, { version: '1.0.0', allowDowngrade: true })).status, 200);
  await ground.platform.runJobs();
  t.is((await at.read(id)).version, '1.0.0');
});
