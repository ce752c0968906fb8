/** Stands in for another operating system: answers questions to its programs with what they once printed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Answer, Ask } from '../src/process/ask.ts';

export interface Asked {
  program: string;
  args: readonly string[];
  input: string | undefined;
}

/** What a program printed, from the folder recorded. */
export function recording(name: string): string {
  return readFileSync(join(import.meta.dirname, 'recorded', name), 'utf8');
}

/**
 * An `ask` that answers with what `answer` gives: a text for an exit code of 0, or a whole answer. What it does not know
 * is a failure of the test. `calls` is all that was asked.
 */
export function recordedAsk(answer: (call: Asked) => string | Partial<Answer> | undefined): {
  ask: Ask;
  calls: Asked[];
} {
  const calls: Asked[] = [];
  const ask: Ask = async (program, args, { input }) => {
    const call = { program, args, input };
    calls.push(call);
    const given = answer(call);
    if (given === undefined) throw new Error(`nothing recorded for ${program} ${args.join(' ')}`);
    return { code: 0, stdout: '', stderr: '', ...(typeof given === 'string' ? { stdout: given } : given) };
  };
  return { ask, calls };
}

/** The constant script of a question to PowerShell; empty for other programs. */
export function scriptOf({ program, args }: Asked): string {
  return program === 'powershell.exe' ? (args.at(-1) ?? '') : '';
}

/** A signal that never aborts. */
export const PATIENT = new AbortController().signal;
