/** Runs an agent inside the test, with short waits and an invented machine. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import type { AgentOptions } from '../src/agent-options.ts';
import { HANDLERS } from '../src/commands/handlers.ts';
import { createClient } from '../src/link/client.ts';
import { enroll } from '../src/link/enrollment.ts';
import { runAgent, type StopReason } from '../src/loop.ts';
import type { Machine } from '../src/machine.ts';
import { simulatedMachine } from '../src/simulated/machine.ts';
import { diskJournal } from '../src/store/journal.ts';
import { fileState } from '../src/store/state.ts';
import { DEFAULT_TIMING } from '../src/timing.ts';
import { FakeServer } from './fake-server.ts';

export const QUICK = { ...DEFAULT_TIMING, backoffFirst: 5, backoffMax: 20, poll: 10, killGrace: 300, lastWords: 2_000 };

export interface Bench {
  server: FakeServer;
  folder: string;
  stateFile: string;
  lines: string[];
  /** Starts the agent on the state in the folder; `stop` ends it, `ended` says why it ended. */
  run(change?: Partial<AgentOptions>): { stop: () => Promise<StopReason>; ended: Promise<StopReason> };
}

/** A simulated machine whose platform is the one the test runs on, so that real scripts can run. */
export function machineHere(): Machine {
  const machine = simulatedMachine('bench');
  return { ...machine, identity: async () => ({ ...(await machine.identity()), osType: 'linux' }) };
}

/** A folder of its own under the system's temporary one, removed after the test. */
export async function temporaryFolder(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(os.tmpdir(), 'agent-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** A fake server and an agent that is enrolled with it. */
export async function bench(t: ExecutionContext): Promise<Bench> {
  const server = await FakeServer.start();
  t.teardown(() => server.stop());
  const folder = await temporaryFolder(t);
  const stateFile = join(folder, 'state.json');
  const call = createClient(server.url, 5_000);
  const store = fileState(stateFile);
  const machine = machineHere();
  await store.write(await enroll(call, machine, { server: server.url, key: 'k' }));
  const lines: string[] = [];
  return {
    server,
    folder,
    stateFile,
    lines,
    run(change = {}) {
      const stop = new AbortController();
      const ended = runAgent({
        call,
        store,
        machine,
        journalStore: diskJournal(join(folder, 'state-commands')),
        handlers: HANDLERS,
        timing: QUICK,
        signal: stop.signal,
        log: (line) => lines.push(line),
        allowPower: false,
        intervalSeconds: 0.02,
        ...change,
      });
      const end = (): Promise<StopReason> => {
        stop.abort();
        return ended;
      };
      t.teardown(end);
      return { stop: end, ended };
    },
  };
}
