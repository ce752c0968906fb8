/** Asks the programs of a Linux system, with arguments as a vector and never through a shell. */
import { randomUUID } from 'node:crypto';
import { runProgram } from '../../process/run.ts';
import { ToolError } from '../contract.ts';

export interface Answered {
  /** Null when a signal ended the program. */
  code: number | null;
  stdout: string;
  stderr: string;
}
export type Ask = (program: string, args: readonly string[], options: { signal: AbortSignal }) => Promise<Answered>;

/** No tool runs longer than its signal allows; this is for programs that outlive even that. */
const LONGEST_MS = 120_000;
const KILL_GRACE_MS = 500;
const LIMIT_BYTES = 48 * 1024 * 1024;

/**
 * Runs a program in English and in UTC, so that what it prints can be read. Throws UNSUPPORTED when it is not installed
 * and TIMEOUT when the signal ended it.
 */
export const askLinux: Ask = async (program, args, { signal }) => {
  const ran = await runProgram({
    program,
    args: [...args],
    folder: '/',
    env: { LC_ALL: 'C.UTF-8', TZ: 'UTC', SYSTEMD_COLORS: '0', SYSTEMD_PAGER: '' },
    timeoutMs: LONGEST_MS,
    killGraceMs: KILL_GRACE_MS,
    mark: randomUUID(),
    signal,
    limitBytes: LIMIT_BYTES,
  }).catch((fault: NodeJS.ErrnoException) => {
    if (fault.code === 'ENOENT') throw new ToolError('UNSUPPORTED', `${program} is not installed on this device`);
    throw fault;
  });
  if (ran.ended !== 'exit') throw new ToolError('TIMEOUT', `${program} did not end in time`);
  return { code: ran.exitCode ?? null, stdout: ran.stdout, stderr: ran.stderr };
};

/** The first line of what a program complained about, for people. */
export function complaintOf(program: string, { code, stdout, stderr }: Answered): string {
  const line = `${stderr}\n${stdout}`.split('\n').find((candidate) => candidate.trim() !== '');
  return line?.trim().slice(0, 500) ?? `${program} ended with code ${code}`;
}
