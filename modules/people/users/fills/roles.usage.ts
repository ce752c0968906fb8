/** Invitations keep the role they promise, expired ones too: they may be sent again. */
import { defineContribution } from '#core';

export default defineContribution('roles.usage', {
  async count(ctx, roleId) {
    const { rows } = await ctx.sql<{ count: number }>(
      'select count(*)::int as count from invitations where role_id = $1',
      [roleId],
    );
    return { name: 'invitations', count: rows[0]?.count ?? 0 };
  },
});
