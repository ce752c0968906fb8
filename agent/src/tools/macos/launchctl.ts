/** What `launchctl` prints, and what its exit codes mean. */
import type { ServiceDetail } from '#agent-protocol';
import { ToolError } from '../contract.ts';

export const LAUNCHCTL = '/bin/launchctl';

/** A row of `launchctl list`. */
export interface Job {
  label: string;
  pid: number | null;
  /** The exit code of the last run, negative for a signal; null when it never ended. */
  lastExit: number | null;
}

/** Rows of `launchctl list`: process id or `-`, last status, label. */
export function parseJobs(text: string): Job[] {
  return text.split('\n').flatMap((line) => {
    const [, pid, status, label] = /^(\d+|-)\t(-?\d+|-)\t(\S.*?)\s*$/.exec(line) ?? [];
    if (!label) return [];
    return { label, pid: pid === '-' ? null : Number(pid), lastExit: status === '-' ? null : Number(status) };
  });
}

/** Labels that `launchctl print-disabled` calls disabled; older systems write `true` for it. */
export function parseDisabled(text: string): Set<string> {
  const rows = [...text.matchAll(/^\s*"(.+)" => (\w+)\s*$/gm)];
  return new Set(rows.flatMap(([, label, word]) => (label && (word === 'disabled' || word === 'true') ? [label] : [])));
}

/** One service as `launchctl print DOMAIN/LABEL` describes it. */
export interface Printed {
  state: string;
  path: string | null;
  program: string | null;
  pid: number | null;
  username: string | null;
  /** Such as `keepalive`, `runatload`. */
  properties: string[];
  lastExit: string | null;
}

/** Reads the rows one tab deep; deeper ones belong to endpoints and environments. */
export function parsePrint(text: string): Printed {
  const field = (name: string): string | null => new RegExp(`^\\t${name} = (.+?)\\s*$`, 'm').exec(text)?.[1] ?? null;
  const pid = Number(field('pid') ?? Number.NaN);
  const path = field('path');
  return {
    state: field('state') ?? 'unknown',
    path: path?.startsWith('/') ? path : null,
    program: field('program'),
    pid: Number.isInteger(pid) ? pid : null,
    username: field('username'),
    properties: (field('properties') ?? '').split('|').map((word) => word.trim()),
    lastExit: field('last exit code'),
  };
}

/** The word of the protocol for a state of launchd; a service that waits to be needed does not run. */
export function statusOf({ state, pid }: Pick<Printed, 'state' | 'pid'>): ServiceDetail['status'] {
  if (pid !== null || state === 'running') return 'running';
  if (state === 'spawn scheduled' || state === 'spawning') return 'starting';
  if (state === 'exiting' || state === 'SIGTERMed') return 'stopping';
  return state === 'waiting' || state === 'not running' || state === 'exited' ? 'stopped' : 'unknown';
}

/** Exit codes of launchctl that have a meaning of their own; the rest is told by its words. */
export const CODE = { noProcess: 3, inputOutput: 5, inProgress: 36, alreadyThere: 37, unknown: 113, disabled: 119 };

/** Why launchctl refused. Its words are English on every system. */
export function refusal(label: string, code: number, stderr: string): Error {
  if (code === CODE.noProcess || code === CODE.unknown) return new ToolError('NOT_FOUND', `There is no job ${label}`);
  if (code === CODE.disabled || /service is disabled/i.test(stderr)) {
    return new ToolError('CONFLICT', `${label} is disabled`);
  }
  if (code === 1 || code === 150 || /not permitted|not privileged|System Integrity/i.test(stderr)) {
    return new ToolError('DENIED', `macOS does not let the agent change ${label}`);
  }
  return new Error(`launchctl failed on ${label} with ${code}: ${stderr.trim().slice(0, 500)}`);
}

const LABEL = /^[\w .@:$+-]{1,256}$/;

/** Some jobs of the system's own have labels with letters that nobody can name from afar. */
export function isLabel(label: string): boolean {
  return LABEL.test(label) && !label.startsWith('-');
}

/** Throws INVALID for what is no label of a job. */
export function checkLabel(label: string): string {
  if (!isLabel(label)) throw new ToolError('INVALID', 'This is no name of a service');
  return label;
}
