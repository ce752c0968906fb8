/** Passwords: strength checks and hashing, both outside of any transaction. */
import { type Context, errors } from '#core';
import { hashPassword, verifyDummy, verifyPassword } from '#core/auth';
import { WeakPassword } from '../../errors.ts';
import { STRENGTH } from './password-strength.ts';

/** On a scale of 0 to 4: withstands online guessing at the rates that the login limits allow. */
const MIN_SCORE = 2;

/** Throws WEAK_PASSWORD with the first reason. @param about known facts about the user, which make guessing easier */
export async function mustBeStrong(ctx: Context, password: string, about: string[]): Promise<void> {
  const { score, feedback } = await ctx.services.get(STRENGTH).check(
    password,
    about.flatMap((text) => [text, ...text.split(/[\s@.]+/)]).filter((text) => text.length > 2),
  );
  if (score >= MIN_SCORE) return;
  throw WeakPassword(feedback.warning || 'The password is too easy to guess');
}

/** Throws 503 when too many passwords wait to be hashed, 400 for one that is too long once normalized. */
export async function hash(password: string): Promise<string> {
  return hashPassword(password).catch((error: Error) => {
    if (error.name === 'PasswordTooLongError') throw errors.ValidationFailed(error.message);
    throw whenBusy(error);
  });
}

/** Takes the same time whether or not a user with a password exists. */
export async function passwordFits(password: string, stored: string | null | undefined): Promise<boolean> {
  const checked = stored ? verifyPassword(password, stored) : verifyDummy(password);
  return checked.catch((error: Error) => {
    throw whenBusy(error);
  });
}

function whenBusy(error: Error): Error {
  if (error.name !== 'PasswordQueueFullError') return error;
  return errors.Unavailable({ message: 'Too many logins at once; try again', headers: { 'retry-after': '5' } });
}

/** Checks the strength of a new password and hashes it. Throws WEAK_PASSWORD, UNAVAILABLE. Do not call it within a transaction. */
export async function hashNewPassword(ctx: Context, password: string, about: string[]): Promise<string> {
  await mustBeStrong(ctx, password, about);
  return hash(password);
}
