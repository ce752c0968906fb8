/** A platform with one of each object of every module, and what its database looked like: the ground of the contract tests. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Person, startTestPlatform, systemUser, type Tenant, type TestPlatform, tenant } from '#test';
import type { AnyRoute } from '../../../core/contract/index.ts';
import type { RouteTag } from '../../../core/http/route.ts';
import { routeTags } from '../../../core/loader/load.ts';

/** A module's test/example.ts makes one of each of its objects for a tenant. */
type Example = (platform: TestPlatform, tenant: Tenant) => Promise<unknown>;

export interface Arrangement {
  platform: TestPlatform;
  /** The tenant that the examples belong to. */
  victim: Tenant;
  stranger: Tenant;
  admin: Person;
  tags: RouteTag[];
}

export async function arrange(env: Record<string, string> = {}): Promise<Arrangement> {
  const platform = await startTestPlatform(env);
  const [victim, stranger, admin] = await Promise.all([tenant(platform), tenant(platform), systemUser(platform)]);
  for (const { folder } of platform.platform.modules) {
    const file = join(folder, 'test', 'example.ts');
    if (!existsSync(file)) continue;
    const { default: example } = (await import(file)) as { default: Example };
    await example(platform, victim);
  }
  await platform.runJobs();
  return { platform, victim, stranger, admin, tags: routeTags(platform.platform.modules) };
}

/** Ids of all the victim's rows, by table: whatever a path's {id} may stand for is among them. */
export async function victimIds({ platform, victim }: Arrangement): Promise<string[]> {
  const tables = await platform.sql<{ tab: string; col: string }>(
    `select c.table_name as tab, case when c.table_name in ('organizations') then 'id' else 'org_id' end as col
     from information_schema.columns c join pg_class k on k.oid = to_regclass(c.table_name) and not k.relispartition
     where c.table_schema = 'public' and c.column_name = 'id' and c.data_type = 'uuid'
       and (c.table_name = 'organizations' or exists (select from information_schema.columns o
         where o.table_name = c.table_name and o.column_name = 'org_id'))
     order by 1`,
  );
  const ids: string[] = [victim.partnerId];
  for (const { tab, col } of tables) {
    const rows = await platform.sql<{ id: string }>(`select id from ${tab} where ${col} = $1 limit 3`, [victim.orgId]);
    ids.push(...rows.map((row) => row.id));
  }
  return [...new Set(ids)];
}

/** A hash of all the victim's rows, but for the trail and what counts sessions and jobs. */
export async function fingerprint({ platform, victim }: Arrangement): Promise<string> {
  const tables = await platform.sql<{ tab: string }>(
    `select c.table_name as tab from information_schema.columns c join pg_class k on k.oid = to_regclass(c.table_name)
     where c.table_schema = 'public' and c.column_name = 'org_id' and not k.relispartition
       and c.table_name not in ('audit_logs', 'audit_names', 'audit_outbox', 'sessions', 'job_runs', 'queue_lanes') order by 1`,
  );
  const hash = createHash('sha256');
  for (const { tab } of tables) {
    const [row] = await platform.sql<{ all: string }>(
      `select coalesce(string_agg(t::text, '|' order by t::text), '') as all from ${tab} t where org_id = $1`,
      [victim.orgId],
    );
    hash.update(`${tab}:${row?.all}\n`);
  }
  const [org] = await platform.sql<{ t: string }>('select o::text as t from organizations o where id = $1', [
    victim.orgId,
  ]);
  return hash.update(org?.t ?? '').digest('hex');
}

/** Tables that also a refused request may write: the trail, and what the platform counts of itself. */
const TRAIL = [
  'audit_logs',
  'audit_names',
  'audit_outbox',
  'audit_heads',
  'audit_checkpoints',
  'audit_tiles',
  'audit_trees',
];
const CLOCKS = ['queue_snapshots', 'queue_lanes', 'queue_health', 'domain_queues', 'job_stats_minute', 'cron_status'];
/** Keys that an installation makes for itself when they are first asked for. */
const KEYS = ['push_keys'];
const BESIDE = [...TRAIL, ...CLOCKS, ...KEYS, 'job_runs', 'worker_nodes', 'migrations'];

/** Every table with a hash of all its rows, whoever they belong to. */
export async function contents(platform: TestPlatform): Promise<Record<string, string>> {
  const tables = await platform.sql<{ tab: string }>(
    `select relname as tab from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
       and not relispartition and relname <> all($1) order by 1`,
    [BESIDE],
  );
  const [row] = await platform.sql<Record<string, string>>(
    `select ${tables.map(({ tab }) => `(select md5(coalesce(string_agg(t::text, '|' order by t::text), '')) from ${tab} t) as "${tab}"`).join(', ')},
       (select count(*)::text from graphile_worker._private_jobs) as jobs`,
  );
  return row ?? {};
}

/** Objects of the platform's own, whose ids no table of a tenant has. */
export async function namedPaths(platform: TestPlatform): Promise<Map<string, string>> {
  const [job] = await platform.sql<{ id: number }>(
    `select id::int from graphile_worker.add_job('audit/plan-retention', run_at := now() + interval '1 day')`,
  );
  const [plugin] = await platform.sql<{ slug: string }>('select slug from plugin_catalog limit 1');
  return new Map([
    ['/plugins/catalog/{slug}', `/plugins/catalog/${plugin?.slug}`],
    ['/admin/jobs/{id}', `/admin/jobs/${job?.id}`],
    ['/admin/jobs/cron/{id}', '/admin/jobs/cron/audit%2Fplan-retention'],
    ['/admin/jobs/tasks/{task}', '/admin/jobs/tasks/audit%2Fplan-retention'],
    ['/admin/jobs/workers/{id}', '/admin/jobs/workers/example:1:00000000'],
  ]);
}

/** A path with its parameters filled in; the last id stands for all that follow. */
export const fill = (path: string, ids: string[]): string => {
  let next = 0;
  // A process is a number on its device: any will do.
  return path.replace('{pid}', '1').replace(/\{\w+\}/g, () => ids[Math.min(next++, ids.length - 1)] ?? '');
};

export const takesBody = ({ method }: AnyRoute): boolean => method !== 'GET' && method !== 'DELETE';

/**
 * The victim's own objects: fills each parameter with the id that the route's GET, or the GET of what it lies in, finds.
 * What no GET shows keeps any id.
 */
export async function realPaths(
  arrangement: Arrangement,
  caller: (route: AnyRoute) => string,
): Promise<(route: AnyRoute) => string> {
  const { platform, tags } = arrangement;
  const ids = await victimIds(arrangement);
  const reads = new Map(tags.filter(({ route }) => route.method === 'GET').map(({ route }) => [route.path, route]));
  const found = await namedPaths(platform);
  const resolve = async (path: string): Promise<string> => {
    const known = found.get(path);
    if (known !== undefined) return known;
    const last = path.lastIndexOf('{');
    const above =
      last < 0
        ? path
        : (await resolve(path.slice(0, path.lastIndexOf('/', last)))) + path.slice(path.lastIndexOf('/', last));
    const read = reads.get(path);
    let real = fill(above, ids);
    for (const id of last < 0 || !read ? [] : ids) {
      const token = read ? caller(read) : '';
      if ((await platform.call('GET', fill(above, [id]), { token })).status !== 200) continue;
      real = fill(above, [id]);
      break;
    }
    found.set(path, real);
    return real;
  };
  for (const { route } of tags) {
    const end = route.path.lastIndexOf('}') + 1;
    found.set(`whole ${route.path}`, (await resolve(route.path.slice(0, end))) + route.path.slice(end));
  }
  return (route) => found.get(`whole ${route.path}`) ?? route.path;
}
