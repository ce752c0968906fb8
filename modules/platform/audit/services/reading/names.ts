/** Resolves the texts of a filter to actors, actions and resources first; entries are then found by those keys. */
import type { Context } from '#core';
import type { AuditFilter } from '../../models/audit-log.ts';
import { type EntryKey, ilike, like, narrow, type Selection, select } from './selection.ts';

/** When more names than this match, matching entries are so frequent that a scan of the trail soon fills a page. */
const MAX_MATCHES = 2000;

const KINDS = [
  { field: 'user', kind: 'actor', column: 'actor_key' },
  { field: 'action', kind: 'action', column: 'action_key' },
  { field: 'resource', kind: 'resource', column: 'resource_key' },
] as const;

/** The fields of a search besides the details, and where it looks when too many names match. */
const SEARCHED = [
  { kind: 'action', column: 'action_key', texts: ['l.action'] },
  { kind: 'email', column: 'actor_key', texts: ['l.actor_email'] },
  { kind: 'resource', column: 'resource_key', texts: ['l.resource_type', 'l.resource_name'] },
] as const;

/**
 * The selection of a filter with its texts resolved: a text that matches nothing returns nothing immediately, and a rare one is
 * found through its index instead of a scan of the trail. Throws 403 when a named organization is out of reach.
 */
export async function selectByNames(ctx: Context, filter: AuditFilter): Promise<Selection> {
  const { q, ...named } = filter;
  const selection = select(ctx, named);
  for (const { field, kind, column } of KINDS) {
    const text = filter[field];
    if (!text) continue;
    const places = await placesOf(ctx, selection, kind, like(text));
    if (places.length > MAX_MATCHES) continue;
    narrow(selection, (n) => `l.${column} = any(${n}::bigint[])`, keysOf(places));
    // The most selective keys drive the query; the other conditions are filters.
    if (!selection.places || places.length < selection.places.at.length) selection.places = { column, at: places };
  }
  if (q) await search(ctx, selection, q);
  return selection;
}

const keysOf = (places: readonly EntryKey[]) => [...new Set(places.map(({ key }) => key))];

/**
 * The details have no index: they are scanned row by row, newest first. Everything else is compared by key, which costs almost
 * nothing for each row.
 */
async function search(ctx: Context, selection: Selection, q: string): Promise<void> {
  const pattern = like(q);
  selection.values.push(pattern);
  const text = `$${selection.values.length}`;
  const anywhere: string[] = [];
  for (const { kind, column, texts } of SEARCHED) {
    const places = await placesOf(ctx, selection, kind, pattern);
    if (places.length > MAX_MATCHES) {
      anywhere.push(...texts.map((column) => ilike(column, q, text)));
    } else if (places.length > 0) {
      selection.values.push(keysOf(places));
      anywhere.push(`l.${column} = any($${selection.values.length}::bigint[])`);
    }
  }
  selection.conditions.push(`(${[...anywhere, ilike('l.details::text', q, text)].join(' or ')})`);
}

async function placesOf(ctx: Context, { orgIds, partnerId }: Selection, kind: string, pattern: string) {
  const columns = `org_id as "orgId", key::text as key`;
  const { rows } = orgIds
    ? await ctx.sql<EntryKey>(
        `select ${columns} from audit_names_like($1, $2, $3::uuid[], $4, $5)`,
        [kind, pattern, orgIds, partnerId !== null, MAX_MATCHES + 1],
        'audit-names',
      )
    : // A unit of work that reaches every tenant has no announced organizations, and no policy applies to it.
      await ctx.sql<EntryKey>(
        `select distinct ${columns} from audit_names
         where kind = case $1 when 'email' then 'actor' else $1 end and lower(name) like lower($2)
           and ($1 <> 'email' or lower(split_part(name, chr(10), 1)) like lower($2)) limit $3`,
        [kind, pattern, MAX_MATCHES + 1],
      );
  return rows;
}
