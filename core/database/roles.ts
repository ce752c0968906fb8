/** The three database roles without login, made when the connecting role may. */
import type pg from 'pg';
import { databaseErrorOf } from './errors.ts';
import { APP_ROLE, AUDIT_ADMIN_ROLE, PLATFORM_ROLE } from './pools.ts';

export class DatabaseSetupError extends Error {
  override name = 'DatabaseSetupError';
}

/** Makes missing roles and the memberships that `SET ROLE` needs. Throws DatabaseSetupError with the SQL to run by hand. */
export async function ensureRoles(owner: pg.Pool): Promise<void> {
  const { rows } = await owner.query<{ name: string; present: boolean; member: boolean; bypass: boolean; me: string }>(
    `select name, quote_ident(current_user) as me, r.oid is not null as present, coalesce(r.rolbypassrls or r.rolsuper, false) as bypass,
            case when r.oid is null then false else pg_has_role(current_user, r.oid, 'member') end as member
     from unnest($1::text[]) name left join pg_roles r on r.rolname = name`,
    [[APP_ROLE, PLATFORM_ROLE, AUDIT_ADMIN_ROLE]],
  );
  const bypassing = rows.filter((row) => row.bypass).map((row) => row.name);
  if (bypassing.length > 0) {
    throw new DatabaseSetupError(
      `The database role ${bypassing.join(', ')} may bypass row-level security; take that away.`,
    );
  }
  const needed = [
    ...rows.filter((row) => !row.present).map((row) => `create role ${row.name} nologin`),
    // The audit admin stays out of the application's reach: an operator grants it for retention.
    ...rows
      .filter((row) => !row.member && row.name !== AUDIT_ADMIN_ROLE)
      .map((row) => `grant ${row.name} to ${row.me}`),
  ];
  for (const statement of needed) {
    try {
      await owner.query(statement);
    } catch (error) {
      const code = databaseErrorOf(error)?.code;
      if (code === '42710' || code === '23505') continue; // another process was faster
      throw new DatabaseSetupError(
        `The database user may not set up the roles (${(error as Error).message}). As a superuser run: ${needed.join('; ')};`,
      );
    }
  }
}
