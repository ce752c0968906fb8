/** Makes the first system administrator, from the command line or from the configuration of an empty database. */
import type pg from 'pg';
import { auditRow } from '../audit/record.ts';
import { EVERYWHERE, NOBODY } from '../context/index.ts';
import { storable } from '../work/index.ts';
import { hashPassword } from './passwords.ts';

export const SYSTEM_ADMIN_ROLE = '00000000-0000-4000-8000-000000000001';

export class SystemUserError extends Error {
  override name = 'SystemUserError';
}

/** Creates the user and its audit entry in one transaction. Throws SystemUserError when the address is taken. */
export async function createSystemUser(
  pool: pg.Pool,
  user: { email: string; password: string; name?: string; via: string },
): Promise<string> {
  if (user.password.length < 8) throw new SystemUserError('The password must have at least 8 characters.');
  const hash = await hashPassword(user.password);
  const client = await pool.connect();
  try {
    await client.query('begin');
    const { rows } = await client.query<{ id: string }>(
      `insert into users (email, name, password_hash, password_changed_at, email_proven_at)
       values ($1, $2, $3, now(), now())
       on conflict do nothing returning id`,
      [user.email, user.name ?? 'System Administrator', hash],
    );
    const id = rows[0]?.id;
    if (!id) throw new SystemUserError(`A user with the address ${user.email} exists already.`);
    await client.query('insert into system_users (user_id, role_id) values ($1, $2)', [id, SYSTEM_ADMIN_ROLE]);
    const row = auditRow({ ...NOBODY, kind: 'system' }, EVERYWHERE, 'user.create', {
      resourceType: 'user',
      resourceId: id,
      resourceName: user.email,
      details: { scope: 'system', via: user.via },
    });
    await client.query('select flush_effects($1::jsonb)', [storable({ audits: [row] })]);
    await client.query('commit');
    return id;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  } finally {
    client.release();
  }
}

/** On a database without any user, makes the administrator that the configuration names. Returns whether it did. */
export async function bootstrapSystemUser(pool: pg.Pool, admin: { email: string; password: string }): Promise<boolean> {
  const { rows } = await pool.query<{ empty: boolean }>('select not exists (select from users) as empty');
  if (!rows[0]?.empty) return false;
  await createSystemUser(pool, { ...admin, via: 'bootstrap' });
  return true;
}
