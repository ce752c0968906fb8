/** The jobs of launchd in the agent's own domain: what is loaded, what is disabled, which files define them. */
import { posix } from 'node:path';
import type { ServiceDetail } from '#agent-protocol';
import { type Ask, pause } from '../../process/ask.ts';
import { ToolError } from '../contract.ts';
import {
  CODE,
  checkLabel,
  type Job,
  LAUNCHCTL,
  launchctlError,
  type Printed,
  parseDisabled,
  parseJobs,
  parsePrint,
  statusOf,
} from './launchctl.ts';

const STEP_MS = 200;
/** Where definitions lie: of daemons for root, of agents for a user. */
const DAEMONS = ['/Library/LaunchDaemons', '/System/Library/LaunchDaemons'];
const AGENTS = ['/Library/LaunchAgents', '/System/Library/LaunchAgents'];

export interface Launchd {
  folders: readonly string[];
  jobs(signal: AbortSignal): Promise<Map<string, Job>>;
  disabled(signal: AbortSignal): Promise<Set<string>>;
  /** Definition files by the label that their name gives; by custom it is the label inside. */
  definitions(signal: AbortSignal): Promise<Map<string, string>>;
  /** Undefined when no such job is loaded. */
  print(label: string, signal: AbortSignal): Promise<Printed | undefined>;
  load(label: string, path: string, signal: AbortSignal): Promise<void>;
  /** Starts the job, loading it first when it is not; `again` ends one that runs. */
  start(label: string, again: boolean, signal: AbortSignal): Promise<void>;
  /** Unloads the job: a mere signal would let launchd start it anew. */
  unload(label: string, signal: AbortSignal): Promise<void>;
  enable(label: string, enabled: boolean, signal: AbortSignal): Promise<void>;
  /** Waits until the job has come to rest; `stopped` when it is not loaded. */
  settled(label: string, signal: AbortSignal): Promise<ServiceDetail['status']>;
}

/** `uid` is that of the agent: root manages the system's jobs, anyone else those of the own session. */
export function launchd(ask: Ask, uid = process.getuid?.() ?? 0): Launchd {
  const domain = uid === 0 ? 'system' : `gui/${uid}`;
  const folders = uid === 0 ? DAEMONS : AGENTS;
  const run = async (label: string, fine: readonly number[], args: string[], signal: AbortSignal): Promise<number> => {
    const { code, stderr } = await ask(LAUNCHCTL, args, { signal });
    if (code !== 0 && !fine.includes(code)) throw launchctlError(label, code, stderr);
    return code;
  };
  const self: Launchd = {
    folders,
    async jobs(signal) {
      const { stdout } = await ask(LAUNCHCTL, ['list'], { signal });
      return new Map(parseJobs(stdout).map((job) => [job.label, job]));
    },
    disabled: async (signal) => parseDisabled((await ask(LAUNCHCTL, ['print-disabled', domain], { signal })).stdout),
    definitions: (signal) => definitionsIn(folders, ask, signal),
    async print(label, signal) {
      const { code, stdout } = await ask(LAUNCHCTL, ['print', `${domain}/${checkLabel(label)}`], { signal });
      return code === 0 ? parsePrint(stdout) : undefined;
    },
    async load(label, path, signal) {
      const code = await run(label, [CODE.alreadyThere, CODE.inputOutput], ['bootstrap', domain, path], signal);
      // launchd reports 5 for almost every failure, also for a job that was loaded meanwhile.
      if (code === CODE.inputOutput && !(await self.print(label, signal))) {
        throw new Error(`launchd did not take the definition ${path}.`);
      }
    },
    async start(label, again, signal) {
      const loaded = await self.print(label, signal);
      if (!loaded) {
        const path = (await self.definitions(signal)).get(label);
        if (path === undefined) throw new ToolError('NOT_FOUND', `There is no job ${label}`);
        if ((await self.disabled(signal)).has(label)) throw new ToolError('CONFLICT', `${label} is disabled`);
        await self.load(label, path, signal);
      }
      await run(label, [], ['kickstart', ...(again && loaded ? ['-k'] : []), `${domain}/${label}`], signal);
    },
    async unload(label, signal) {
      await run(label, [CODE.inProgress, CODE.noProcess], ['bootout', `${domain}/${checkLabel(label)}`], signal);
      while (await self.print(label, signal)) await pause(STEP_MS, signal);
    },
    async enable(label, enabled, signal) {
      await run(label, [], [enabled ? 'enable' : 'disable', `${domain}/${checkLabel(label)}`], signal);
    },
    settled: (label, signal) => settledStatus(() => self.print(label, signal), signal),
  };
  return self;
}

async function definitionsIn(folders: readonly string[], ask: Ask, signal: AbortSignal): Promise<Map<string, string>> {
  const args = [...folders, '-maxdepth', '1', '-name', '*.plist'];
  const { stdout } = await ask('/usr/bin/find', args, { signal });
  const paths = stdout.split('\n').filter((path) => path.endsWith('.plist'));
  // An administrator's definition in /Library replaces the system's definition of the same name.
  return new Map(paths.reverse().map((path) => [posix.basename(path, '.plist'), path]));
}

/** Waits until the job is neither starting nor stopping. */
async function settledStatus(
  print: () => Promise<Printed | undefined>,
  signal: AbortSignal,
): Promise<ServiceDetail['status']> {
  for (;;) {
    const printed = await print();
    const status = printed ? statusOf(printed) : 'stopped';
    if (status !== 'starting' && status !== 'stopping') return status;
    await pause(STEP_MS, signal);
  }
}
