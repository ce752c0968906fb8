/** Deletes names that no entry refers to any more. */
import type { Context } from '#core';

const KINDS = { actor: 'actor_key', action: 'action_key', resource: 'resource_key' } as const;

/** Deletes the names that retention left without an entry. Needs the platform's role, in a transaction of its own. */
export async function forgetNames(ctx: Context, orgId: string): Promise<void> {
  // A transaction that appends an entry with one of these names finishes first, and a later one adds the name again.
  await ctx.sql('lock table audit_names in share row exclusive mode');
  for (const [kind, column] of Object.entries(KINDS)) {
    // One index look-up for each name; a join might read the whole trail.
    await ctx.sql(
      `delete from audit_names n where n.owner = $1 and n.kind = $2
         and (select true from audit_logs l where l.org_id = $3 and l.${column} = n.key limit 1) is null`,
      [`org:${orgId}`, kind, orgId],
    );
  }
}
