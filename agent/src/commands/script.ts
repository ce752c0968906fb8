/** Runs a script that the server sent, in a folder of its own. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import { join } from 'node:path';
import type { OsType } from '#agent-protocol';
import { type RunOutcome, runProgram } from '../process/run.ts';
import { sha256Hex } from '../store/snapshot-hash.ts';
import type { Handler, Outcome } from './contract.ts';
import { failed } from './contract.ts';

const DEFAULT_TIMEOUT_SECONDS = 300;
const MAX_TIMEOUT_SECONDS = 86_400;

interface Interpreter {
  /** Tried in this order until one is installed. */
  programs: string[];
  args: string[];
  extension: string;
}

/** How a language is run on a system; undefined when the system has no such language. */
export function interpreterOf(language: unknown, osType: OsType): Interpreter | undefined {
  const windows = osType === 'windows';
  switch (language) {
    case 'bash':
      return { programs: ['bash'], args: [], extension: 'sh' };
    case 'sh':
      return { programs: ['sh'], args: [], extension: 'sh' };
    case 'python':
      return { programs: windows ? ['python', 'py'] : ['python3', 'python'], args: [], extension: 'py' };
    case 'node':
      return { programs: [process.execPath], args: [], extension: 'mjs' };
    case 'powershell': {
      const args = ['-NoProfile', '-NonInteractive', ...(windows ? ['-ExecutionPolicy', 'Bypass'] : []), '-File'];
      return { programs: windows ? ['powershell.exe', 'pwsh.exe'] : ['pwsh'], args, extension: 'ps1' };
    }
    case 'cmd':
      return windows ? { programs: ['cmd.exe'], args: ['/d', '/c'], extension: 'cmd' } : undefined;
    default:
      return undefined;
  }
}

/** `script`: completed on exit code 0, failed on any other, timeout when its own limit passed. */
export const script: Handler = async (payload, host, { commandId, signal }) => {
  const { language, content, contentSha256 } = payload;
  if (typeof content !== 'string') return failed('payload.content must be a text');
  if (typeof contentSha256 === 'string' && contentSha256.toLowerCase() !== sha256Hex(content)) {
    return failed('the content does not match its contentSha256');
  }
  const interpreter = interpreterOf(language, host.osType);
  if (!interpreter) return failed(`the language ${String(language)} is not available on ${host.osType}`);
  const folder = await mkdtemp(join(os.tmpdir(), 'agent-script-'));
  try {
    const file = join(folder, `script.${interpreter.extension}`);
    await writeFile(file, content, { mode: 0o600 });
    const outcome = await runFirst(interpreter.programs, {
      args: [...interpreter.args, file, ...texts(payload.args)],
      folder,
      env: { ...(host.customFields && { CUSTOM_FIELDS: host.customFields }), ...variables(payload.env) },
      timeoutMs: timeoutMs(payload.timeoutSeconds),
      killGraceMs: host.killGraceMs,
      mark: commandId,
      signal,
    });
    return outcome ? toOutcome(outcome) : failed(`${String(language)} is not installed on this device`);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  }
};

async function runFirst(
  programs: string[],
  options: Omit<Parameters<typeof runProgram>[0], 'program'>,
): Promise<RunOutcome | undefined> {
  for (const program of programs) {
    try {
      return await runProgram({ ...options, program });
    } catch (fault) {
      if ((fault as NodeJS.ErrnoException).code !== 'ENOENT') throw fault;
    }
  }
  return undefined;
}

function toOutcome({ ended, exitCode, killedBy, stdout, stderr }: RunOutcome): Outcome {
  const output = { stdout, stderr, ...(exitCode !== undefined && { exitCode }) };
  if (ended === 'timeout') return { ...output, status: 'timeout', error: 'the script ran longer than its time-out' };
  if (ended === 'stopped') return { ...output, status: 'failed', error: 'agent stopped while the command ran' };
  if (exitCode === 0) return { ...output, status: 'completed' };
  const error = killedBy ? `the script was ended by ${killedBy}` : `the script ended with exit code ${exitCode}`;
  return { ...output, status: 'failed', error };
}

function timeoutMs(seconds: unknown): number {
  const wanted = typeof seconds === 'number' && seconds > 0 ? seconds : DEFAULT_TIMEOUT_SECONDS;
  return Math.min(wanted, MAX_TIMEOUT_SECONDS) * 1000;
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function variables(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null) return {};
  const usable = Object.entries(value).filter(([name]) => name !== '' && !/[=\0]/.test(name));
  return Object.fromEntries(usable.map(([name, text]) => [name, String(text)]));
}
