/** The slot `roles.usage`: modules that refer to roles in tables of their own count those references. */
import type { Context } from '#core';

export interface RoleUsage {
  /**
   * Counts what refers to this role; a role with any use cannot be deleted. Runs in the unit of work of the caller who deletes
   * it and reaches the whole tenant, while new references wait: the counted table has a foreign key to `roles`.
   * `name` is a plural noun in camelCase, such as `invitations`; it is shown to users.
   */
  count(ctx: Context, roleId: string): Promise<{ name: string; count: number }>;
}
