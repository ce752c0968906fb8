/** Exports of any size: asked for, made by a job step by step, fetched by their own tenant, swept. */
import { gunzipSync } from 'node:zlib';
import test from 'ava';
import { type ErrorBody, organization, partnerUser, sharedPlatform, systemUser, tenant } from '#test';
import { record } from './outbox.ts';

interface Shown {
  id: string;
  status: string;
  progress: number;
  entries: number;
  downloadUrl: string | null;
}
const platform = await sharedPlatform();
test.after.always(() => platform.stop());

const ask = async (token: string, body: object = {}) =>
  platform.call<{ jobId: string; status: string } & ErrorBody>('POST', '/audit-logs/exports', { token, body });
const read = async (token: string, id: string) =>
  (await platform.call<{ data: Shown } & ErrorBody>('GET', `/audit-logs/exports/${id}`, { token })).body.data;
const download = (token: string, id: string) =>
  fetch(`${platform.url}/api/v1/audit-logs/exports/${id}/download`, { headers: { authorization: `Bearer ${token}` } });
const linesOf = async (token: string, id: string) => {
  const response = await download(token, id);
  return gunzipSync(Buffer.from(await response.arrayBuffer()))
    .toString()
    .trimEnd()
    .split('\n');
};

test.serial('an export is accepted, made, and fetched as compressed NDJSON with every entry once', async (t) => {
  const { orgId, orgAdmin } = await tenant(platform);
  const { token } = orgAdmin;
  const total = 20_700;
  await record(
    platform,
    orgId,
    Array.from({ length: total }, (_, n) => ({ action: 'a.b', resourceName: `${n}` })),
  );
  const { status, body, headers } = await ask(token);
  t.is(status, 202);
  t.is(body.status, 'pending');
  t.is(headers.get('location'), `/api/v1/audit-logs/exports/${body.jobId}`);
  t.like(await read(token, body.jobId), { status: 'pending', progress: 0, downloadUrl: null });
  t.is((await download(token, body.jobId)).status, 409);
  await platform.runJobs();
  const made = await read(token, body.jobId);
  t.like(made, { status: 'completed', progress: 100, entries: total });
  const [steps] = await platform.sql<{ step: number; size: number }>(
    `select e.step, (select max(length(data)) from audit_export_chunks c where c.export_id = e.id) as size
     from audit_exports e where id = $1`,
    [body.jobId],
  );
  t.is(steps?.step, 2, 'the work was done in two transactions');
  t.true((steps?.size ?? 0) <= 1_048_576);
  const response = await download(token, body.jobId);
  t.is(response.headers.get('content-type'), 'application/gzip');
  t.regex(response.headers.get('content-disposition') ?? '', /audit-logs-[\d-]+\.ndjson\.gz/);
  const lines = await linesOf(token, body.jobId);
  t.is(lines.length, total);
  const names = lines.map((line) => Number((JSON.parse(line) as { resourceName: string }).resourceName));
  t.deepEqual(
    names,
    Array.from({ length: total }, (_, n) => total - 1 - n),
  );
  const list = await platform.call<{ data: Shown[] }>('GET', '/audit-logs/exports', { token });
  t.deepEqual(
    list.body.data.map((one) => one.id),
    [body.jobId],
  );
  t.is((await platform.audits({ action: 'audit_logs.export', orgId })).length, 1);
  t.is((await platform.audits({ action: 'audit_logs.export.download', orgId })).length, 2);
});

test.serial('a step that is tried again does nothing a second time', async (t) => {
  const { orgId, orgAdmin } = await tenant(platform);
  await record(platform, orgId, [{ action: 'a.b' }]);
  const { jobId } = (await ask(orgAdmin.token)).body;
  await platform.runJobs();
  await platform.sql(`select graphile_worker.add_job('audit/write-export', $1::json)`, [
    JSON.stringify({ orgId: null, requestId: 'again', data: { exportId: jobId, step: 0 } }),
  ]);
  await platform.runJobs();
  t.is((await linesOf(orgAdmin.token, jobId)).length, 1);
});

test.serial('CSV has its header once, and filters and range hold', async (t) => {
  const { orgId, orgAdmin } = await tenant(platform);
  await record(platform, orgId, [
    { action: 'a.one', at: '2026-01-01T00:00:00.000Z', resourceName: '=1+1' },
    { action: 'a.two', at: '2026-01-02T00:00:00.000Z' },
    { action: 'b.three', at: '2026-01-02T00:00:00.000Z' },
  ]);
  const { jobId } = (
    await ask(orgAdmin.token, { format: 'csv', filters: { action: 'a.' }, dateRange: { to: '2026-01-01T12:00:00Z' } })
  ).body;
  await platform.runJobs();
  const lines = await linesOf(orgAdmin.token, jobId);
  t.is(lines.length, 2);
  t.true(lines[0]?.startsWith('id,timestamp,'));
  t.true(lines[1]?.includes(",'=1+1,"));
});

test.serial('what is written after an export was asked for is not in it', async (t) => {
  const { orgId, orgAdmin } = await tenant(platform);
  await record(platform, orgId, [{ action: 'a.before' }]);
  const { jobId } = (await ask(orgAdmin.token)).body;
  await record(platform, orgId, [{ action: 'a.after', at: new Date(Date.now() + 1000).toISOString() }]);
  await platform.runJobs();
  const lines = await linesOf(orgAdmin.token, jobId);
  t.deepEqual(
    lines.map((line) => (JSON.parse(line) as { action: string }).action),
    ['a.before'],
  );
});

test.serial('a partner’s export spans what it reaches, and is hidden from its users who reach less', async (t) => {
  const { orgId, partnerId, partnerRoleId, partner, orgAdmin } = await tenant(platform);
  const second = await organization(platform, partnerId);
  const stranger = await tenant(platform);
  await record(platform, orgId, [{ action: 'a.one' }]);
  await record(platform, second.orgId, [{ action: 'a.two' }]);
  await record(platform, null, [{ action: 'a.own', partnerId }]);
  await record(platform, stranger.orgId, [{ action: 'a.stranger' }]);
  const { jobId } = (await ask(partner.token)).body;
  await platform.runJobs();
  const actions = (await linesOf(partner.token, jobId)).map((line) => (JSON.parse(line) as { action: string }).action);
  t.deepEqual(actions.sort(), ['a.one', 'a.own', 'a.two']);
  const limited = await partnerUser(platform, {
    partnerId,
    roleId: partnerRoleId,
    orgAccess: 'selected',
    orgIds: [orgId],
  });
  for (const { token } of [limited, orgAdmin, stranger.partner, stranger.orgAdmin]) {
    t.is((await download(token, jobId)).status, 404);
    t.is((await platform.call<{ data: Shown[] }>('GET', '/audit-logs/exports', { token })).body.data.length, 0);
  }
  const everything = await systemUser(platform);
  const all = (await ask(everything.token, { filters: { action: 'a.stranger' } })).body;
  await platform.runJobs();
  t.is((await linesOf(everything.token, all.jobId)).length, 1);
  t.is((await download(partner.token, all.jobId)).status, 404);
  t.is((await ask(partner.token, { filters: { orgId: stranger.orgId } })).status, 403);
});

test.serial('a role without audit:export neither asks nor fetches', async (t) => {
  const { viewer, orgAdmin } = await tenant(platform);
  const { jobId } = (await ask(orgAdmin.token)).body;
  t.is((await ask(viewer.token)).status, 403);
  t.is((await download(viewer.token, jobId)).status, 403);
  await platform.runJobs();
});

test.serial('a tenant has at most three unfinished exports', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const answers = await Promise.all([1, 2, 3, 4, 5].map(() => ask(orgAdmin.token)));
  t.deepEqual(answers.map((answer) => answer.status).sort(), [202, 202, 202, 429, 429]);
  const refused = answers.filter(({ status }) => status === 429);
  t.deepEqual(
    refused.map(({ headers }) => headers.get('retry-after')),
    ['60', '60'],
  );
  await platform.runJobs();
  t.is((await ask(orgAdmin.token)).status, 202);
  await platform.runJobs();
});

test.serial('a tenant that keeps fifty exports is told when the first of them goes', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  await platform.sql(
    `insert into audit_exports (org_id, org_ids, requested_by, format, filter, status, expires_at)
     select $1::uuid, array[$1::uuid], $2, 'csv', '{}', 'completed', now() + make_interval(hours => n) from generate_series(1, 50) n`,
    [orgId, orgAdmin.id],
  );
  const { status, headers, body } = await ask(orgAdmin.token);
  t.is(status, 429);
  t.is(body.error.code, 'TOO_MANY_EXPORTS');
  const wait = Number(headers.get('retry-after'));
  t.true(wait > 3500 && wait <= 3600, String(wait));
});

test.serial(
  'after seven days an export is gone with its chunks; one that nobody works on any more has failed',
  async (t) => {
    const { orgId, orgAdmin } = await tenant(platform);
    const old = (await ask(orgAdmin.token)).body.jobId;
    await record(platform, orgId, [{ action: 'a.b' }]);
    await platform.runJobs();
    const [row] = await platform.sql<{ days: number }>(
      `select round(extract(epoch from expires_at - created_at) / 86400)::int as days from audit_exports where id = $1`,
      [old],
    );
    t.is(row?.days, 7);
    await platform.sql('update audit_exports set expires_at = now() where id = $1', [old]);
    t.is((await download(orgAdmin.token, old)).status, 404);
    const stuck = (await ask(orgAdmin.token)).body.jobId;
    await platform.sql(
      `update audit_exports set status = 'running', step = 7, updated_at = now() - interval '7 hours' where id = $1`,
      [stuck],
    );
    await platform.sql(
      `select graphile_worker.add_job('audit/sweep-exports', '{"orgId":null,"requestId":"sweep","data":{}}')`,
    );
    await platform.runJobs();
    t.deepEqual(await platform.sql('select 1 from audit_export_chunks where export_id = $1', [old]), []);
    t.is((await read(orgAdmin.token, stuck)).status, 'failed');
    t.is((await download(orgAdmin.token, stuck)).status, 409);
  },
);
