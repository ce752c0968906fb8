/** Which actors, actions and resources a filter means: found among their names first, entries then by the keys of those. */
import type { Context } from '#core';
import type { AuditFilter } from '../../models/audit-log.ts';
import { ilike, like, narrow, type Place, type Selection, select } from './selection.ts';

/** Where more names hold a text than this, entries that fit are so frequent that walking the trail soon fills a page. */
const MOST = 2000;

const KINDS = [
  { field: 'user', kind: 'actor', column: 'actor_key' },
  { field: 'action', kind: 'action', column: 'action_key' },
  { field: 'resource', kind: 'resource', column: 'resource_key' },
] as const;

/** What a search looks through beside the details, and where it looks when the names are too many. */
const SEARCHED = [
  { kind: 'action', column: 'action_key', texts: ['l.action'] },
  { kind: 'email', column: 'actor_key', texts: ['l.actor_email'] },
  { kind: 'resource', column: 'resource_key', texts: ['l.resource_type', 'l.resource_name'] },
] as const;

/**
 * The selection of a filter, with what its texts mean looked up: a text that nothing has finds nothing at once, and a rare
 * one is found in its own index instead of in the whole trail. Throws 403 when a named organization is out of reach.
 */
export async function selectByNames(ctx: Context, filter: AuditFilter): Promise<Selection> {
  const { q, ...named } = filter;
  const selection = select(ctx, named);
  for (const { field, kind, column } of KINDS) {
    const text = filter[field];
    if (!text) continue;
    const places = await placesOf(ctx, selection, kind, like(text));
    if (places.length > MOST) continue;
    narrow(selection, (n) => `l.${column} = any(${n}::bigint[])`, keysOf(places));
    // The fewest places lead; the other conditions hold as well.
    if (!selection.places || places.length < selection.places.at.length) selection.places = { column, at: places };
  }
  if (q) await search(ctx, selection, q);
  return selection;
}

const keysOf = (places: readonly Place[]) => [...new Set(places.map(({ key }) => key))];

/**
 * No index knows what is in the details: they are read row by row, newest first. All else is compared by key, which costs a
 * row next to nothing.
 */
async function search(ctx: Context, selection: Selection, q: string): Promise<void> {
  const pattern = like(q);
  selection.values.push(pattern);
  const text = `$${selection.values.length}`;
  const anywhere: string[] = [];
  for (const { kind, column, texts } of SEARCHED) {
    const places = await placesOf(ctx, selection, kind, pattern);
    if (places.length > MOST) {
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
    ? await ctx.sql<Place>(
        `select ${columns} from audit_names_like($1, $2, $3::uuid[], $4, $5)`,
        [kind, pattern, orgIds, partnerId !== null, MOST + 1],
        'audit-names',
      )
    : // Work that reaches everything has nothing announced, and no policy in its way.
      await ctx.sql<Place>(
        `select distinct ${columns} from audit_names
         where kind = case $1 when 'email' then 'actor' else $1 end and lower(name) like lower($2)
           and ($1 <> 'email' or lower(split_part(name, chr(10), 1)) like lower($2)) limit $3`,
        [kind, pattern, MOST + 1],
      );
  return rows;
}
