/** Reports the roles that providers give to new users. */
import { defineContribution } from '#core';

export default defineContribution('roles.usage', {
  async count(ctx, roleId) {
    const { rows } = await ctx.sql<{ count: number }>(
      'select count(*)::int as count from sso_providers where default_role_id = $1',
      [roleId],
    );
    return { name: 'ssoProviders', count: rows[0]?.count ?? 0 };
  },
});
