/** Checks the role that a new connection really has: row-level security lets the owner of the tables and superusers see everything. */
import type pg from 'pg';

/** One sentence for the operator. */
export class DatabaseRoleError extends Error {
  override name = 'DatabaseRoleError';
}

/** What a connection is for. */
export interface ExpectedRole {
  /** The role whose rights it needs. */
  role: string;
  /** It takes the role at connection; otherwise a login of its own has the rights of the role. */
  taken: boolean;
  /** A role whose rights it must not have. */
  without: string | null;
}

const CHECK = `
select current_user as name, r.rolsuper or r.rolbypassrls as bypasses, pg_has_role(current_user, $1, 'usage') as fits,
  exists (select from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
    and c.relname = 'migrations' and pg_has_role(current_user, c.relowner, 'usage')) as owns,
  $2::text is not null and pg_has_role(current_user, coalesce($2, $1), 'usage') as exceeds
from pg_roles r where r.rolname = current_user`;

/** Throws DatabaseRoleError where the connection has other rights than its work must have. */
export async function mustHaveRole(client: pg.ClientBase, { role, taken, without }: ExpectedRole): Promise<void> {
  const { rows } = await client.query<{
    name: string;
    bypasses: boolean;
    fits: boolean;
    owns: boolean;
    exceeds: boolean;
  }>(CHECK, [role, without]);
  const [found] = rows;
  if (taken && found?.name !== role) {
    throw new DatabaseRoleError(
      `The database connection runs as ${found?.name} instead of ${role}, so row-level security would not separate tenants. ` +
        'A connection pooler that drops start-up options does this: name PostgreSQL itself in DATABASE_URL, or give both ' +
        'DATABASE_APP_URL and DATABASE_PLATFORM_URL logins of their own.',
    );
  }
  if (!found || found.bypasses || found.owns) {
    throw new DatabaseRoleError(
      `The database login ${found?.name} may bypass row-level security or owns the tables; it must have the rights of ${role} only.`,
    );
  }
  if (!found.fits) throw new DatabaseRoleError(`The database login ${found.name} does not have the rights of ${role}.`);
  if (found.exceeds) {
    throw new DatabaseRoleError(
      `The database login ${found.name} has the rights of ${without} as well, beside those of ${role}.`,
    );
  }
}
