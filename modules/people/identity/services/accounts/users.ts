/** Accounts: one for each person, regardless of how many places the person has. */
import { randomUUID } from 'node:crypto';
import type { Context } from '#core';

export interface UserCreate {
  /** Random when absent. */
  id?: string;
  email: string;
  name: string;
  /** Null for a person who logs in through an identity provider only. */
  passwordHash: string | null;
  /** Whether the person opened a link that was mailed to the address. */
  addressProven?: boolean;
}

/** Creates an active account without a place. Null when the address is taken. Needs the platform's role. */
export async function createUser(ctx: Context, user: UserCreate): Promise<string | null> {
  const { rows } = await ctx.sql<{ id: string }>(
    `insert into users (id, email, name, password_hash, password_changed_at, email_proven_at)
     values ($1, $2, $3, $4::text, case when $4::text is null then null else now() end, case when $5 then now() end)
     on conflict do nothing returning id`,
    [user.id ?? randomUUID(), user.email, user.name, user.passwordHash, user.addressProven === true],
  );
  return rows[0]?.id ?? null;
}

/** Sets the password of an account that has none. False when it has one or is not active. Needs the platform's role. */
export async function setFirstPassword(ctx: Context, userId: string, passwordHash: string): Promise<boolean> {
  const { rowCount } = await ctx.sql(
    `update users set password_hash = $2, password_changed_at = now(), updated_at = now()
     where id = $1 and status = 'active' and password_hash is null`,
    [userId, passwordHash],
  );
  return rowCount === 1;
}
