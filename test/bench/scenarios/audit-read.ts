/** Reading a trail of millions: first pages, filters, deep cursors and searches, against the same page of a short trail. */
import { request } from '../request.ts';
import { drive, rounded, type Scenario } from '../scenario.ts';

const ROWS = 5_000_000;
const LANES = 2;

export const scenario: Scenario = {
  title: `lists and searches in ${ROWS.toLocaleString('en')} audit entries of one organization over a year, ms (p50 / p99)`,
  async run(ground) {
    const base = await ground.api();
    const { orgAdmin, orgId } = await ground.tenant();
    await ground.sql('alter table audit_logs disable trigger audit_logs_append_only');
    // Made once over all rows, which takes a fraction of the time.
    const indexes = await ground.sql<{ name: string; made: string }>(
      `select c.indexrelid::regclass::text as name, pg_get_indexdef(c.indexrelid) as made from pg_index c
       where c.indrelid = 'audit_logs'::regclass and not c.indisunique`,
    );
    for (const { name } of indexes) await ground.sql(`drop index ${name}`);
    await ground.sql(
      `insert into audit_logs (id, owner, seq, org_id, timestamp, actor_type, actor_id, actor_email, actor_name, action,
         resource_type, resource_id, resource_name, details, ip_address, user_agent, result, checksum)
       select gen_random_uuid(), 'org:' || $1, n, $1::uuid, now() - interval '365 days' * (1 - n::float8 / $2), 'user',
         ('00000000-0000-4000-8000-' || lpad((n % 500)::text, 12, '0'))::uuid, 'user' || n % 500 || '@example.com', 'User ' || n % 500,
         case when n % 100000 = 0 then 'policy.create' else (array['device.update', 'user.login', 'script.execute', 'alert.resolve', 'site.update'])[1 + n % 5] end,
         case when n % 100000 = 0 then 'policy' else (array['device', 'user', 'script', 'alert', 'site'])[1 + n % 5] end,
         gen_random_uuid(), 'pc-' || lpad((n * 7919 % 10000)::text, 5, '0'),
         jsonb_build_object('changedFields', array['name'], 'note', md5(n::text)), '192.0.2.1', 'Mozilla/5.0', 'success', md5(n::text)
       from generate_series(1, $2::bigint) n`,
      [orgId, ROWS],
    );
    for (const { made } of indexes) await ground.sql(made);
    await ground.sql('vacuum analyze audit_logs');
    await ground.sql('analyze audit_names');
    const headers = { authorization: `Bearer ${orgAdmin.token}` };
    const client = request(base, LANES);
    const figures: Record<string, string> = {};
    const measure = async (label: string, path: string) => {
      const one = async () => {
        const status = await client.send('GET', `/api/v1${path}`, headers);
        if (status !== 200) throw new Error(`${path} answered ${status}`);
      };
      await one();
      const { p50, p99 } = await drive(ground.seconds, LANES, one);
      figures[label] = `${rounded(p50)} / ${rounded(p99)}`;
    };
    const at = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
    const cursorAt = async (share: number) => {
      const [row] = await ground.sql<{ at: string; id: string }>(
        'select timestamp::text as at, id from audit_logs where owner = $1 and seq = $2',
        [`org:${orgId}`, Math.floor(ROWS * share)],
      );
      return Buffer.from(JSON.stringify(['audit-newest', row?.at, row?.id])).toString('base64url');
    };
    await measure('first page with total', '/audit-logs/logs');
    await measure('first page, flat', '/audit-logs?skipCount=true');
    await measure('first page by cursor', '/audit-logs/logs?cursor=');
    await measure('deep page by cursor', `/audit-logs/logs?cursor=${await cursorAt(0.1)}`);
    await measure('filter by a common action', '/audit-logs/logs?action=login&cursor=');
    await measure('filter by a rare action', '/audit-logs/logs?action=policy.create&cursor=');
    await measure('filter by user', '/audit-logs/logs?user=user77@&cursor=');
    await measure('filter by resource name', '/audit-logs/logs?resource=pc-00042&cursor=');
    await measure('filter that finds nothing', '/audit-logs/logs?user=nobody&cursor=');
    await measure('search 30 days, common', `/audit-logs/search?q=login&from=${at(30)}&cursor=`);
    await measure('search 30 days, once', `/audit-logs/search?q=c4ca4238a0b923820dcc509a6f75849b&from=${at(30)}`);
    await measure('one range with total', `/audit-logs/logs?from=${at(1)}`);
    await client.close();
    return figures;
  },
};
