/** What waits for a partner's plugin is forgotten everywhere when it is switched off, also where the caller does not reach. */
import test from 'ava';
import { sweepSteps } from '../../services/sweeps.ts';
import { openGround, openSibling, openTenant } from '../ground.ts';
import { wants } from '../packages.ts';

const ground = await openGround({}, false);
test.after.always(() => ground.stop());
const place = (id: string) => `/plugins/installations/${id}`;
const ONLINE = [{ event: 'device.online', handler: 'on' }];
const PLAIN = 'export default { handlers: { on() {} } };';

/** What an organization may have become while events of it waited. */
const BECOMES: Record<string, (orgId: string, at: Awaited<ReturnType<typeof openTenant>>) => Promise<unknown>> = {
  'has plugins switched off': (orgId, { call, partner }) =>
    call('PATCH', `/modules/organizations/${orgId}/plugins`, { enabled: false }, partner),
  'is suspended': (orgId) =>
    ground.platform.sql(`update organizations set status = 'suspended' where id = $1`, [orgId]),
  'is deleted': (orgId) => ground.platform.sql('update organizations set deleted_at = now() where id = $1', [orgId]),
};

/** A partner's installation that an event of each of two organizations waits for. */
async function openWaiting() {
  const one = await openTenant(ground);
  const two = await openSibling(ground, one);
  const manifest = await ground.register({ permissions: wants('devices:read'), hooks: ONLINE }, PLAIN);
  const { id } = await one.run(manifest, { partnerId: one.partnerId }, one.partner);
  const stranger = await openTenant(ground);
  const other = await stranger.run(manifest);
  for (const at of [one, two, stranger]) await at.emit('devices.online', { hostname: 'pc' });
  const waiting = async (of = id) =>
    (
      await ground.platform.sql<{ orgId: string }>(
        'select org_id as "orgId" from plugin_queue where installation_id = $1 order by created_at',
        [of],
      )
    ).map(({ orgId }) => orgId);
  return { one, two, id, waiting, others: () => waiting(other.id) };
}

for (const [what, become] of Object.entries(BECOMES)) {
  test.serial(
    `when a partner's plugin is disabled or removed, nothing waits for an organization that ${what}`,
    async (t) => {
      for (const [method, path] of [
        ['POST', '/disable'],
        ['DELETE', ''],
      ] as const) {
        const { one, two, id, waiting, others } = await openWaiting();
        t.deepEqual(await waiting(), [one.orgId, two.orgId]);
        await become(two.orgId, one);
        t.is((await one.call(method, place(id) + path, method === 'POST' ? {} : undefined, one.partner)).status, 200);
        t.deepEqual(await waiting(), [], `${method} ${path}`);
        t.is((await others()).length, 1, 'what waits for others still does');
      }
    },
  );
}

test.serial('an update that never ends takes with it what waits', async (t) => {
  const { id, waiting, others } = await openWaiting();
  await ground.platform.sql(
    `update plugin_installations set status = 'updating', status_since = now() - interval '11 minutes' where id = $1`,
    [id],
  );
  await ground.asPlatform((ctx) => sweepSteps(ctx));
  t.deepEqual(await waiting(), []);
  t.is((await others()).length, 1);
});

test.serial(
  'what came at the moment of disabling is not handed over after enabling; what it put off itself is',
  async (t) => {
    const { one, two, id, waiting } = await openWaiting();
    t.is((await one.call('POST', `${place(id)}/disable`, {}, one.partner)).status, 200);
    await ground.platform.sql(
      `insert into plugin_queue (installation_id, org_id, key, kind, body, due_at)
     values ($1, $2, 'event:late', 'event', '{}', now()), ($1, $3, 'once:later:0', 'once', '{}', now())`,
      [id, one.orgId, two.orgId],
    );
    t.is((await one.call('POST', `${place(id)}/enable`, undefined, one.partner)).status, 200);
    t.deepEqual(await waiting(), [two.orgId]);
  },
);
