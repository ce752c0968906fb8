/** Passwords: strength checks and hashing, both outside of any transaction. */
import { type Context, errors } from '#core';
import { hashPassword, verifyDummy, verifyPassword } from '#core/auth';
import { WeakPassword } from '../../errors.ts';

/** On a scale of 0 to 4: withstands online guessing at the rates that the login limits allow. */
const LEAST_SCORE = 2;

type Check = (password: string, inputs: string[]) => { score: number; feedback: { warning: string | null } };
let loading: Promise<Check> | undefined;

/** Loading the word lists takes 100 ms, so the first password that needs them loads them instead of every start. */
function strengthCheck(): Promise<Check> {
  loading ??= Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
    import('@zxcvbn-ts/language-en'),
  ]).then(([{ ZxcvbnFactory }, common, english]) => {
    const checker = new ZxcvbnFactory({
      dictionary: { ...common.dictionary, ...english.dictionary },
      graphs: common.adjacencyGraphs,
      translations: english.translations,
      // The cost grows faster than the length, and characters after the hundredth do not change the score.
      maxLength: 100,
    });
    return (password, inputs) => checker.check(password, inputs);
  });
  return loading;
}

/** Throws WEAK_PASSWORD with the first reason. @param about known facts about the user, which make guessing easier */
export async function mustBeStrong(password: string, about: string[]): Promise<void> {
  const check = await strengthCheck();
  const { score, feedback } = check(
    password,
    about.flatMap((text) => [text, ...text.split(/[\s@.]+/)]).filter((text) => text.length > 2),
  );
  if (score >= LEAST_SCORE) return;
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
export async function hashNewPassword(_ctx: Context, password: string, about: string[]): Promise<string> {
  await mustBeStrong(password, about);
  return hash(password);
}
