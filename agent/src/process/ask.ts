/** Runs a program of the operating system and returns its output: all Windows and macOS tools use this function. */
import { execFile } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { ToolError } from '../tools/contract.ts';

export interface Answer {
  /** The exit code; -1 when a signal ended the program. */
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * Runs a program with an argument vector, never through a shell; `input` goes to its standard input.
 * A failing exit code is an answer. Throws ToolError: UNSUPPORTED when the program is missing, TIMEOUT when `signal`
 * aborts, TOO_LARGE when it prints without end.
 */
export type Ask = (
  program: string,
  args: readonly string[],
  options: { signal: AbortSignal; input?: string },
) => Promise<Answer>;

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** Asks the machine this process runs on. */
export const askSystem: Ask = (program, args, { signal, input }) =>
  new Promise((resolve, reject) => {
    if (signal.aborted) return reject(tooSlow(program));
    const options = { signal, maxBuffer: MAX_OUTPUT_BYTES, windowsHide: true, encoding: 'utf8' } as const;
    const child = execFile(program, args, options, (fault, stdout, stderr) => {
      if (!fault) return resolve({ code: 0, stdout, stderr });
      if (signal.aborted) return reject(tooSlow(program));
      if (fault.code === 'ENOENT') return reject(new ToolError('UNSUPPORTED', `${program} is not on this device`));
      if (fault.code === 'EACCES') return reject(new ToolError('DENIED', `${program} may not be started`));
      if (fault.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') {
        return reject(new ToolError('TOO_LARGE', `${program} gave more than can be taken; ask for less`));
      }
      resolve({ code: typeof fault.code === 'number' ? fault.code : -1, stdout, stderr });
    });
    // A program that ends without reading its input breaks the pipe; its exit code says what there is to say.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input ?? '');
  });

/** Waits some milliseconds between two questions; throws TIMEOUT when `signal` aborts. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch(() => {
    throw tooSlow('the device');
  });
}

function tooSlow(who: string): ToolError {
  return new ToolError('TIMEOUT', `${who} did not answer in time`);
}
