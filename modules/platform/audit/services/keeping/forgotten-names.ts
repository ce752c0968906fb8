/** Names that no entry holds any more go with the entries that held them. */
import type { Context } from '#core';

const KINDS = { actor: 'actor_key', action: 'action_key', resource: 'resource_key' } as const;

/** Forgets the names that retention left without an entry. Platform role, in a transaction of its own. */
export async function forgetNames(ctx: Context, orgId: string): Promise<void> {
  // Whoever is appending an entry with one of these names finishes first, and whoever comes next adds it anew.
  await ctx.sql('lock table audit_names in share row exclusive mode');
  for (const [kind, column] of Object.entries(KINDS)) {
    // One look into the index for each name; a join might read the whole trail.
    await ctx.sql(
      `delete from audit_names n where n.owner = $1 and n.kind = $2
         and (select true from audit_logs l where l.org_id = $3 and l.${column} = n.key limit 1) is null`,
      [`org:${orgId}`, kind, orgId],
    );
  }
}
