/** Tickets for browsers: what they open, once, for whom, and for how long. */
import test from 'ava';
import { apiKey, type ErrorBody, startTestPlatform, tenant } from '#test';
import type { AnyRoute } from '../../contract/index.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

interface Ticket {
  ticket: string;
  expiresAt: string;
}
const make = (token: string, purpose = 'events') =>
  platform.call<Ticket & ErrorBody>('POST', '/auth/tickets', { token, body: { purpose } });
/** Without any header; the stream is left at once. */
async function open(ticket: string, path = '/events', headers: Record<string, string> = {}) {
  const stop = new AbortController();
  const mark = path.includes('?') ? '&' : '?';
  const answer = await fetch(`${platform.url}/api/v1${path}${mark}ticket=${ticket}`, { headers, signal: stop.signal });
  const { status } = answer;
  const code = status >= 400 ? ((await answer.json()) as ErrorBody).error.code : null;
  stop.abort();
  return [status, code];
}

test.serial('a ticket opens the stream once, without a header', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const { status, body } = await make(orgAdmin.token);
  t.is(status, 201);
  const seconds = (Date.parse(body.expiresAt) - Date.now()) / 1_000;
  t.true(seconds > 50 && seconds <= 61);
  t.is((await platform.sql('select from browser_tickets')).length, 1);
  const rows = await platform.sql(`select from browser_tickets t where strpos(t::text, $1) > 0`, [body.ticket]);
  t.deepEqual(rows, [], 'only its hash is stored');
  t.deepEqual(await open(body.ticket), [200, null]);
  t.deepEqual(await open(body.ticket), [401, 'UNAUTHENTICATED'], 'used up');
});

test.serial('of several requests at once with one ticket, one opens', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const { ticket } = (await make(orgAdmin.token)).body;
  const answers = await Promise.all(Array.from({ length: 6 }, () => open(ticket)));
  t.is(answers.filter(([status]) => status === 200).length, 1);
});

test.serial('it opens nothing but its purpose, and is used up by the attempt', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const { ticket } = (await make(orgAdmin.token, 'audit.export')).body;
  t.deepEqual(await open(ticket), [401, 'UNAUTHENTICATED']);
  const export_ = '/audit-logs/exports/586ebf6a-7425-40de-944b-000000000001/download';
  t.deepEqual(await open(ticket, export_), [401, 'UNAUTHENTICATED']);
  const right = (await make(orgAdmin.token, 'audit.export')).body.ticket;
  t.deepEqual(await open(right, export_), [404, 'NOT_FOUND'], 'past the gate');
});

test.serial('no route takes a ticket that does not say so', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const routes = (platform.platform.server?.table() ?? []).flatMap((entry) => {
    const tag = (
      entry.settings.plugins as { quartermaster?: () => { route: AnyRoute } } | undefined
    )?.quartermaster?.();
    return tag ? [tag.route] : [];
  });
  const takes = routes.filter(({ access }) => 'permission' in access && access.ticket !== undefined);
  t.deepEqual(takes.map(({ path }) => path).sort(), ['/audit-logs/exports/{id}/download', '/events']);
  for (const path of ['/devices', '/auth/sessions', '/events/history']) {
    const { ticket } = (await make(orgAdmin.token)).body;
    const [status] = await open(ticket, path);
    t.true(status === 401 || status === 400, path);
  }
});

test.serial('an expired one opens nothing, nor one from another address', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const old = (await make(orgAdmin.token)).body.ticket;
  await platform.sql(`update browser_tickets set expires_at = now() - interval '1 second'`);
  t.deepEqual(await open(old), [401, 'UNAUTHENTICATED']);
  const elsewhere = (await make(orgAdmin.token)).body.ticket;
  await platform.sql(`update browser_tickets set address = '192.0.2.7'`);
  t.deepEqual(await open(elsewhere), [401, 'UNAUTHENTICATED']);
});

test.serial('person, right and session are those of the moment at which it is used', async (t) => {
  const [ended, disabled, without] = await Promise.all([tenant(platform), tenant(platform), tenant(platform)]);
  const tickets = await Promise.all(
    [ended, disabled, without].map(async ({ orgAdmin }) => (await make(orgAdmin.token)).body.ticket),
  );
  await platform.sql('update sessions set revoked_at = now() where user_id = $1', [ended.orgAdmin.id]);
  await platform.sql(`update users set status = 'disabled' where id = $1`, [disabled.orgAdmin.id]);
  await platform.sql(
    `with made as (insert into roles (name, scope, org_id) select 'nothing', 'organization', $2 returning id)
     update organization_users set role_id = (select id from made) where user_id = $1`,
    [without.orgAdmin.id, without.orgId],
  );
  const [first = '', second = '', third = ''] = tickets;
  t.deepEqual(await open(first), [401, 'UNAUTHENTICATED']);
  t.deepEqual(await open(second), [401, 'UNAUTHENTICATED']);
  t.deepEqual(await open(third), [403, 'FORBIDDEN']);
});

test.serial('people make tickets for purposes that exist; keys make none', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const wrong = await make(orgAdmin.token, 'everything');
  t.is(wrong.status, 400);
  t.like(wrong.body.error.details[0], { path: 'purpose' });
  const key = await apiKey(platform, { orgId, scopes: ['*'], createdBy: orgAdmin.id });
  const { status } = await platform.call('POST', '/auth/tickets', {
    headers: { 'x-api-key': key },
    body: { purpose: 'events' },
  });
  t.is(status, 401);
  t.is((await platform.call('POST', '/auth/tickets', { body: { purpose: 'events' } })).status, 401);
});
