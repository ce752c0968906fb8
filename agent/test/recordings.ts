/** Answers for programs that are not there: what they printed elsewhere, by the words they were called with. */
import type { Answered, Ask } from '../src/tools/linux/ask.ts';

export interface Recordings {
  ask: Ask;
  /** Every call, as one line of words. */
  calls: string[];
}

/** The first answer whose pattern fits the call; a call that fits none is a fault of the test. */
export function recordings(answers: readonly (readonly [RegExp, string | Partial<Answered>])[]): Recordings {
  const calls: string[] = [];
  const ask: Ask = async (program, args) => {
    const call = [program, ...args].join(' ');
    calls.push(call);
    const found = answers.find(([pattern]) => pattern.test(call));
    if (!found) throw new Error(`nothing is recorded for: ${call}`);
    const answer = typeof found[1] === 'string' ? { stdout: found[1] } : found[1];
    return { code: 0, stdout: '', stderr: '', ...answer };
  };
  return { ask, calls };
}

export const never = new AbortController().signal;
