/** What brings each operation to success on a platform with one of each object: bodies, what has to be so before, and paths. */
import { randomUUID } from 'node:crypto';
import { ROLES } from '#test';
import type { AnyRoute } from '../../../core/contract/index.ts';
import { browser } from '../../../modules/messages/notifications/test/post-offices.ts';
import type { Arrangement } from './arranged.ts';
import { candidatesOf, likelyFirst } from './candidates.ts';
import { sampleOf } from './sample.ts';

/** Eight digits that recordings know again: letters and figures are both among them. */
const short = () => `e7${randomUUID().slice(0, 6)}`;
/** Names that no other has; the examples of the API document show plainer ones in their place. */
const unique = (word: string) => `${word} ${short()}`;

/** Removals come last, the tenant's own last of all; logging out ends the session that the others need. */
export const rank = ({ method, path }: AnyRoute) =>
  /logout|sessions/.test(path)
    ? 4
    : method !== 'DELETE'
      ? 0.5 * Number(path.endsWith('/complete'))
      : /organizations|partners/.test(path)
        ? 3
        : /users/.test(path)
          ? 2
          : // What lies below a thing before the thing.
            1 + 0.1 * Number(!/\}.*\}/.test(path));

/** So many objects that are there are tried. */
const MOST_REAL = 4;

export async function successWays(arrangement: Arrangement) {
  const { platform, victim, admin, tags } = arrangement;
  const all = tags.map(({ route }) => route);
  const reads = new Set(all.filter(({ method }) => method === 'GET').map(({ path }) => path));
  const people = [victim.orgAdmin, victim.partner, admin];
  const tree = { operator: 'AND', conditions: [{ field: 'osType', operator: 'equals', value: 'linux' }] };
  /** A device in no static group, and an invitation, of the victim. */
  const [{ id: spare = '' } = {}] = await platform.sql<{ id: string }>(
    `select id from devices d where org_id = $1 and not exists (select from device_group_members m where m.device_id = d.id
       and m.group_id in (select id from device_groups where type = 'static')) limit 1`,
    [victim.orgId],
  );
  const [{ id: invited = '' } = {}] = await platform.sql<{ id: string }>(
    'select id from invitations where org_id = $1 limit 1',
    [victim.orgId],
  );
  /** What a field's name says about the value it wants; the rest is as plain as the schema allows. */
  const KNOWN: Record<string, (plain: unknown) => unknown> = {
    orgId: () => victim.orgId,
    siteId: () => victim.siteId,
    partnerId: () => victim.partnerId,
    userId: () => victim.viewer.id,
    roleId: () => ROLES.viewer,
    email: () => `${short()}@example.com`,
    name: () => unique('Name'),
    slug: () => `slug-${short()}`,
    timezone: () => 'Europe/Vienna',
    issuer: () => 'https://login.example.com',
  };
  /** Bodies whose rules no schema tells. */
  const BODIES: Record<string, () => object> = {
    'PATCH /modules/instance/{key}': () => ({ enabled: true, reason: unique('Reason') }),
    'PATCH /modules/partner/{key}': () => ({ enabled: true, reason: unique('Reason') }),
    'PATCH /modules/organizations/{orgId}/{key}': () => ({ enabled: true }),
    'POST /users/invite': () => ({
      email: `${short()}@example.com`,
      name: 'New',
      roleId: ROLES.viewer,
    }),
    'POST /users/{id}/role': () => ({ roleId: ROLES.technician }),
    'PATCH /users/{id}': () => ({ name: unique('Name') }),
    'POST /custom-fields': () => ({
      orgId: victim.orgId,
      name: unique('Name'),
      fieldKey: `k${short()}`,
      type: 'text',
    }),
    'POST /admin/jobs/bulk': () => ({ action: 'retry', filter: { task: 'audit/plan-retention' } }),
    'POST /devices/{id}/commands': () => ({ type: 'reboot' }),
    'POST /devices/bulk/commands': () => ({ deviceIds: [spare], type: 'reboot' }),
    'POST /devices/bulk/custom-fields': () => ({ deviceIds: [spare], values: { rack: short() } }),
    'POST /devices/provision': () => ({
      orgId: victim.orgId,
      siteId: victim.siteId,
      hostname: unique('Name'),
      osType: 'linux',
    }),
    'POST /devices/{id}/maintenance': () => ({ minutes: 5 }),
    'POST /filters': () => ({ orgId: victim.orgId, name: unique('Name'), conditions: tree }),
    'POST /filters/preview': () => ({ conditions: tree }),
    'POST /groups/{id}/devices': () => ({ deviceIds: [spare] }),
    'POST /groups/{id}/preview': () => ({ filter: tree }),
    'POST /tags/bulk': () => ({ deviceIds: [spare], add: [`t${short()}`] }),
    'POST /tags/rename': () => ({ orgId: victim.orgId, from: 'renamed', to: `t${short()}` }),
    'POST /webhooks': () => ({ orgId: victim.orgId, name: unique('Name'), url: 'https://8.8.8.8/', events: ['*'] }),
    'PATCH /plugins/installations/{id}': () => ({ grantPermissions: [] }),
    'PATCH /notifications/read': () => ({ all: true }),
    'PUT /notifications/preferences': () => ({ preferences: [{ type: 'device', email: 'none' }] }),
    'POST /notifications/push-subscriptions': () => browser(`https://8.8.8.8/${randomUUID()}`).body,
    'POST /alerts/channels': () => ({
      orgId: victim.orgId,
      name: unique('Name'),
      type: 'email',
      config: { to: ['ops@example.com'] },
    }),
    'PATCH /alerts/channels/{id}': () => ({ name: unique('Name') }),
    'PATCH /webhooks/{id}': () => ({ name: unique('Name') }),
    'POST /webhooks/{id}/test': () => ({ event: 'webhook.test' }),
    'POST /webhooks/{id}/replay': () => ({
      from: '2020-01-01T00:00:00Z',
      to: '2030-01-01T00:00:00Z',
      status: 'delivered',
    }),
    'POST /users/resend-invite': () => ({ userId: invited }),
    'PATCH /access-reviews/{id}/items/{itemId}': () => ({ decision: 'approved' }),
    'POST /sso/providers': () => ({
      name: unique('Name'),
      issuer: `https://${short()}.example.com`,
      clientId: 'quartermaster',
      clientSecret: 'x',
    }),
  };
  /** What has to be so before an operation can succeed; may give the paths to try. */
  const ARRANGE: Record<string, () => Promise<string[] | undefined>> = {
    // On already, so that nothing is missed by what comes after.
    'PATCH /modules/instance/{key}': async () => ['/modules/instance/search'],
    'PATCH /modules/partner/{key}': async () => ['/modules/partner/search'],
    'PATCH /modules/organizations/{orgId}/{key}': async () => [`/modules/organizations/${victim.orgId}/device-logs`],
    'POST /access-reviews/{id}/complete': () => set(`update access_review_items set decision = 'approved'`),
    'POST /devices/{id}/restore': () =>
      set(`update devices set lifecycle = 'decommissioned', decommissioned_at = now() where id = $1`, [spare]).then(
        () => [`/devices/${spare}/restore`],
      ),
    ...Object.fromEntries(
      [
        'PATCH',
        'DELETE',
        ...['maintenance', 'quarantine', 'commands', 'run-script', 'auto-update'].map((one) => `POST /${one}`),
      ].map((one) => {
        const [method, below = ''] = one.split(' ');
        return [`${method} /devices/{id}${below}`, async () => [`/devices/${await another('active')}${below}`]];
      }),
    ),
    'POST /devices/{id}/commands/{commandId}/cancel': async () => {
      const path = `/devices/${await another('active')}/commands`;
      const options = { token: victim.orgAdmin.token, body: { type: 'lock' } };
      const { body } = await platform.call<{ data: { id: string } }>('POST', path, options);
      return [`${path}/${body.data.id}/cancel`];
    },
    'POST /devices/{id}/approve': async () => [`/devices/${await another('quarantined')}/approve`],
    'POST /devices/{id}/deny': async () => [`/devices/${await another('quarantined')}/deny`],
    'DELETE /devices/{id}/permanent': async () => [
      `/devices/${await another('decommissioned')}/permanent?confirm=another`,
    ],
    'DELETE /devices/{id}/maintenance': async () => {
      const path = `/devices/${await another('active')}/maintenance`;
      await platform.call('POST', path, { token: victim.orgAdmin.token, body: { minutes: 5 } });
      return [path];
    },
    'DELETE /notifications/push-subscriptions/{id}': async () => {
      const rows = await platform.sql<{ id: string }>('select id from push_subscriptions');
      return rows.map(({ id }) => `/notifications/push-subscriptions/${id}`);
    },
    'PATCH /plugins/catalog/{slug}': async () => [`/plugins/catalog/${await plugin()}`],
    'PATCH /plugins/catalog/{slug}/versions/{version}': async () => [
      `/plugins/catalog/${await plugin()}/versions/1.0.0`,
    ],
    'POST /tags/rename': () => set(`update devices set tags = '{renamed}' where id = $1`, [spare]),
    'POST /admin/jobs/{id}/retry': async () => [`/admin/jobs/${await queued()}/retry`],
    'POST /admin/jobs/{id}/cancel': async () => [`/admin/jobs/${await queued()}/cancel`],
    'POST /admin/jobs/cron/{id}/run': async () => ['/admin/jobs/cron/audit%2Fplan-retention/run'],
    'POST /admin/jobs/workers/{id}/drain': async () => [`/admin/jobs/workers/${await worker('0 s')}/drain`],
    'POST /admin/jobs/workers/{id}/unlock': async () => [`/admin/jobs/workers/${await worker('1 hour')}/unlock`],
    'POST /admin/jobs/tasks/{task}/pause': async () => ['/admin/jobs/tasks/audit%2Fplan-retention/pause'],
    'POST /admin/jobs/tasks/{task}/resume': () =>
      set(`insert into paused_tasks (task) values ('audit/plan-retention') on conflict do nothing`).then(() => [
        '/admin/jobs/tasks/audit%2Fplan-retention/resume',
      ]),
    'POST /groups/{id}/devices': async () => {
      const made = `select '/groups/' || id || '/devices' as path from device_groups where org_id = $1 and type = 'static'`;
      return (await platform.sql<{ path: string }>(made, [victim.orgId])).map(({ path }) => path);
    },
    'DELETE /groups/{id}/devices/{deviceId}': () => members('static'),
    'POST /groups/{id}/devices/{deviceId}/pin': async () => (await members('dynamic')).map((path) => `${path}/pin`),
    'DELETE /groups/{id}/devices/{deviceId}/pin': async () => {
      const pins = (await members('dynamic')).map((path) => `${path}/pin`);
      for (const path of pins) await platform.call('POST', path, { token: victim.orgAdmin.token });
      return pins;
    },
  };
  async function plugin(): Promise<string> {
    return (
      (await platform.sql<{ slug: string }>("select slug from plugin_catalog where slug like 'example-%' limit 1"))[0]
        ?.slug ?? ''
    );
  }
  async function set(text: string, values: unknown[] = []): Promise<undefined> {
    await platform.sql(text, values);
  }
  /** A job that waits for tomorrow. */
  async function queued(): Promise<number> {
    const [row] = await platform.sql<{ id: number }>(
      `select id::int from graphile_worker.add_job('audit/plan-retention', run_at := now() + interval '1 day')`,
    );
    return row?.id ?? 0;
  }
  async function worker(silentFor: string): Promise<string> {
    const [row] = await platform.sql<{ id: string }>(
      `insert into worker_nodes (id, version, concurrency, heartbeat_at) values ($1, 'x', 1, now() - $2::interval) returning id`,
      [`host:1:${short()}`, silentFor],
    );
    return row?.id ?? '';
  }
  async function another(lifecycle: 'active' | 'quarantined' | 'decommissioned'): Promise<string> {
    const [row] = await platform.sql<{ id: string }>(
      `with made as (
         insert into devices (org_id, site_id, hostname, os_type, lifecycle, decommissioned_at)
         values ($1, $2, 'another', 'linux', $3, case $3 when 'decommissioned' then now() end) returning id, org_id)
       insert into device_state (device_id, org_id) select id, org_id from made returning device_id as id`,
      [victim.orgId, victim.siteId, lifecycle],
    );
    return row?.id ?? '';
  }
  async function members(type: 'static' | 'dynamic'): Promise<string[]> {
    const rows = await platform.sql<{ path: string }>(
      `select '/groups/' || group_id || '/devices/' || device_id as path from device_group_members
       where org_id = $1 and group_id in (select id from device_groups where type = $2)`,
      [victim.orgId, type],
    );
    return rows.map(({ path }) => path);
  }

  const fitted = (value: unknown): unknown =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(
          Object.entries(value).map(([key, inner]) => [key, KNOWN[key] ? KNOWN[key](inner) : fitted(inner)]),
        )
      : value;

  /** Paths that may mean something: the ids that the GET of the same object finds, else every id. */
  async function paths(route: AnyRoute): Promise<string[]> {
    const candidates = await candidatesOf(arrangement);
    let open = [''];
    let known = '';
    for (const part of route.path.split('/').slice(1)) {
      known += `/${part}`;
      if (!part.startsWith('{')) {
        open = open.map((path) => `${path}/${part}`);
        continue;
      }
      const tried = open.flatMap((path) => likelyFirst(candidates, path).map((id) => `${path}/${id}`));
      const real: string[] = [];
      if (reads.has(known)) {
        for (const path of tried) {
          if (real.length === MOST_REAL) break;
          const answers = await Promise.all(people.map(({ token }) => platform.call('GET', path, { token })));
          if (answers.some(({ status }) => status === 200)) real.push(path);
        }
      }
      open = real.length > 0 ? real : tried.slice(0, 60);
    }
    return open;
  }

  return {
    /** Who may succeed, those who reach least first. */
    people,
    /** Makes what the operation wants; may give the paths to try. */
    async arrange(route: AnyRoute): Promise<string[] | undefined> {
      return ARRANGE[`${route.method} ${route.path}`]?.();
    },
    paths,
    bodyOf(route: AnyRoute): unknown {
      if (route.method === 'DELETE' || !route.payload) return undefined;
      return BODIES[`${route.method} ${route.path}`]?.() ?? fitted(sampleOf(route.payload));
    },
  };
}
