/** Passwords: checked and hashed outside any transaction, and strong enough to be worth a hash. */
import { defineError, errors, hashPassword, verifyDummy, verifyPassword } from '#core';

const WeakPassword = defineError('WEAK_PASSWORD', 400, 'The password is too easy to guess');
/** Of 0 to 4: withstands guessing online, at the rates that the login limits allow. */
const LEAST_SCORE = 2;

type Check = (password: string, inputs: string[]) => { score: number; feedback: { warning: string | null } };
let loading: Promise<Check> | undefined;

/** The word lists take a tenth of a second to load, so the first password that needs them pays, not every start. */
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
      // The work grows faster than the text; what comes after a hundred characters changes no verdict.
      maxLength: 100,
    });
    return (password, inputs) => checker.check(password, inputs);
  });
  return loading;
}

/** Throws WEAK_PASSWORD with the first reason. @param about what others know of the user, which makes guesses easier */
export async function mustBeStrong(password: string, about: string[]): Promise<void> {
  const check = await strengthCheck();
  const { score, feedback } = check(
    password,
    about.flatMap((text) => [text, ...text.split(/[\s@.]+/)]).filter((text) => text.length > 2),
  );
  if (score >= LEAST_SCORE) return;
  throw WeakPassword(feedback.warning || 'The password is too easy to guess');
}

/** Throws 503 while too many wait to be hashed, 400 for one that is too long once normalised. */
export async function hash(password: string): Promise<string> {
  return hashPassword(password).catch((error: Error) => {
    if (error.name === 'PasswordTooLongError') throw errors.ValidationFailed(error.message);
    throw whenBusy(error);
  });
}

/** Takes as long whether or not there is a user with a password. */
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
