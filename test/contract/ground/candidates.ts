/** Ids of the victim's rows, those first that a path probably means. */
import type { Arrangement } from './arranged.ts';

interface Candidate {
  id: string;
  /** The table of its row. */
  tab: string;
}

/** Two rows of each table of the tenant, as it is now. */
export async function candidatesOf({ platform, victim }: Arrangement): Promise<Candidate[]> {
  const tables = await platform.sql<{ tab: string }>(
    `select c.table_name as tab from information_schema.columns c
     join pg_class k on k.oid = to_regclass(c.table_name) and not k.relispartition
     where c.table_schema = 'public' and c.column_name = 'id' and c.data_type = 'uuid'
       and c.table_name not in ('audit_logs', 'events') and exists (
         select from information_schema.columns o where o.table_name = c.table_name and o.column_name = 'org_id')`,
  );
  const each = tables.map(({ tab }) => `(select id, '${tab}' as tab from ${tab} where org_id = $1 limit 2)`);
  // Reviewing roles needs items of the tenant that name no organization.
  const items = `(select id, 'access_review_items' from access_review_items limit 2)`;
  return [
    { id: victim.orgId, tab: 'organizations' },
    { id: victim.partnerId, tab: 'partners' },
    { id: victim.viewer.id, tab: 'users' },
    ...(await platform.sql<Candidate & Record<string, unknown>>([...each, items].join(' union all '), [victim.orgId])),
  ];
}

/** Below `/sso/providers` those of `sso_providers` come first, then the others as they are. */
export function likelyFirst(candidates: readonly Candidate[], path: string): string[] {
  const word = path.slice(path.lastIndexOf('/') + 1).replaceAll('-', '_');
  const [likely, others] = [true, false].map((wanted) => candidates.filter(({ tab }) => tab.endsWith(word) === wanted));
  return [...new Set([...(likely ?? []), ...(others ?? [])].map(({ id }) => id))];
}
