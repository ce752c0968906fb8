/** The slot `roles.usage`: whoever refers to roles besides the associations of users says how often. */
import type { Context } from '#core';

export interface RoleUsage {
  /**
   * Counts what would be left without this role; a role with any use is not removed. Runs in the work of whoever removes
   * it, who reaches the whole tenant, while new references wait: the table that is counted has a foreign key to `roles`.
   * `name` is a plural noun in camelCase, such as `invitations`; it is shown to people.
   */
  count(ctx: Context, roleId: string): Promise<{ name: string; count: number }>;
}
