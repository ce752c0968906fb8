/** Changing a password, and resetting a forgotten one by mail. */
import { type Context, errors } from '#core';
import { newOpaqueToken, sha256Hex } from '#core/auth';
import { CurrentPasswordWrong, ResetTokenInvalid } from '../../errors.ts';
import type { PasswordChange, PasswordReset } from '../../models/password.ts';
import { ownerOf, placesOf } from '../access/places.ts';
import { hasFactor } from '../factors/factor-removal.ts';
import { tell } from './notices.ts';
import { hash, mustBeStrong, passwordFits } from './passwords.ts';
import { forgetOpened, markProven } from './proofs.ts';

const LINK_SECONDS = 3600;

interface Person {
  id: string;
  email: string;
  name: string;
  passwordHash: string | null;
}
const PERSON = 'id, email, name, password_hash as "passwordHash"';

/** Ends every session of the user, including this one. Throws CURRENT_PASSWORD_WRONG, WEAK_PASSWORD. */
export async function changePassword(ctx: Context, input: PasswordChange): Promise<void> {
  const user = await ctx.asPlatform(async (own) => {
    const { rows } = await own.sql<Person>(`select ${PERSON} from users where id = $1`, [ctx.actor.id]);
    return rows[0];
  });
  if (!user) throw errors.NotFound('User not found');
  if (!(await passwordFits(input.currentPassword, user.passwordHash))) throw CurrentPasswordWrong();
  await mustBeStrong(ctx, input.newPassword, [user.email, user.name]);
  const passwordHash = await hash(input.newPassword);
  // Compare-and-set on the verified hash: of two concurrent changes the second is refused.
  if (!(await replaceHash(ctx, user.id, passwordHash, user.passwordHash))) throw CurrentPasswordWrong();
  ctx.audit('user.password.change', { resourceType: 'user', resourceId: user.id, resourceName: user.email });
  tell(ctx, user.email, 'password-changed');
}

/**
 * Replaces the password and nothing else that guards the account: factors, phones and recovery codes stay. Throws
 * RESET_TOKEN_INVALID, WEAK_PASSWORD; the link stays valid after a weak password.
 */
export async function resetPassword(ctx: Context, input: PasswordReset): Promise<void> {
  const tokenHash = sha256Hex(input.token);
  const found = await ctx.asPlatform(async (own) => {
    const { rows } = await own.sql<Person>(
      `select ${PERSON} from users join password_resets r on r.user_id = id
       where r.token_hash = $1 and r.expires_at > now() and status = 'active'`,
      [tokenHash],
    );
    return rows[0] ? { user: rows[0], places: await placesOf(own, rows[0].id) } : null;
  });
  if (!found) throw ResetTokenInvalid();
  const { user, places } = found;
  await mustBeStrong(ctx, input.password, [user.email, user.name]);
  const passwordHash = await hash(input.password);
  const { rowCount } = await ctx.sql('delete from password_resets where token_hash = $1 and expires_at > now()', [
    tokenHash,
  ]);
  if (rowCount === 0) throw ResetTokenInvalid();
  if (!(await replaceHash(ctx, user.id, passwordHash, user.passwordHash))) throw ResetTokenInvalid();
  // The link proves the address, unless a factor remains that another person may have set up.
  if (!(await hasFactor(ctx, user.id))) await markProven(ctx, user.id);
  ctx.audit('user.password.reset', {
    ...ownerOf(places[0]),
    resourceType: 'user',
    resourceId: user.id,
    resourceName: user.email,
    actor: { kind: 'user', id: user.id, email: user.email },
  });
  tell(ctx, user.email, 'password-reset');
}

/** Stores the hash and ends everything that the old password gave access to. */
async function replaceHash(ctx: Context, userId: string, next: string, old: string | null): Promise<boolean> {
  const { rowCount } = await ctx.sql(
    `update users set password_hash = $2, password_changed_at = now(), updated_at = now()
     where id = $1 and status = 'active' and password_hash is not distinct from $3`,
    [userId, next, old],
  );
  if (rowCount === 0) return false;
  await forgetOpened(ctx, userId);
  return true;
}

/**
 * Mails a link that is valid for an hour, to active users only; ends quietly for an unknown address. The job and not the
 * request makes the token, so that it is never stored in the queue. A retry after a failed send makes a new token.
 */
export async function sendReset(ctx: Context, email: string): Promise<void> {
  const token = newOpaqueToken('rst_');
  const user = await ctx.asPlatform(async (own) => {
    const { rows } = await own.sql<{ email: string; name: string }>(
      `with made as (
         insert into password_resets (user_id, token_hash, expires_at)
         select id, $2, now() + make_interval(secs => $3) from users where lower(email) = $1 and status = 'active'
         on conflict (user_id) do update set token_hash = excluded.token_hash, expires_at = excluded.expires_at
         returning user_id)
       select email, name from users where id in (select user_id from made)`,
      [email, sha256Hex(token), LINK_SECONDS],
    );
    return rows[0];
  });
  if (!user) return;
  const link = `${ctx.services.config.http.publicUrl}/reset-password?token=${token}`;
  await ctx.services.mail.send({
    to: user.email,
    subject: 'Reset your Quartermaster password',
    text: `Hello ${user.name},\n\nset a new password within the next hour:\n\n${link}\n\nIf you did not ask for this, ignore it: your password stays as it is.\n`,
  });
}
