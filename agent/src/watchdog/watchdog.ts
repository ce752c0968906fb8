/** The watchdog: keeps the main agent running and speaks to the server with a token of its own. */

import type { AgentOptions } from '../agent-options.ts';
import type { Handler } from '../commands/contract.ts';
import { runAgent, type StopReason } from '../loop.ts';
import { readPulse } from '../store/pulse.ts';
import type { StateStore } from '../store/state.ts';
import type { RecordStore } from '../update/record.ts';
import { reportRollBack } from '../update/self-update.ts';
import { Guard } from './guard.ts';
import type { Keeper } from './keeper.ts';
import { Restarts } from './restarts.ts';

export interface WatchdogOptions
  extends Pick<
    AgentOptions,
    'call' | 'journalStore' | 'machine' | 'timing' | 'signal' | 'log' | 'updates' | 'intervalSeconds'
  > {
  /** The main agent's state, which the watchdog only reads. */
  store: StateStore;
  version: string;
  keeper: Keeper;
  pulseFile: string;
  restartsFile: string;
  /** Of the main agent's update. */
  record: RecordStore;
}

/** Runs until it is stopped, and then stops the agent that it started; an agent that removes itself ends it as well. */
export async function runWatchdog(options: WatchdogOptions): Promise<StopReason> {
  const { store, keeper, timing, log, version, record } = options;
  const removed = new AbortController();
  const signal = AbortSignal.any([options.signal, removed.signal]);
  const restarts = await Restarts.open(options.restartsFile);
  const enrolled = async () => (await store.read()) !== undefined;
  const pulse = () => readPulse(options.pulseFile);
  const guard = new Guard({ keeper, restarts, pulse, enrolled, record, timing, log });
  const over = new AbortController();
  const watching = guard.watch(AbortSignal.any([signal, over.signal])).then((here) => here || removed.abort());
  const restartAgent: Handler = async (_payload, _host, run) => {
    await guard.restart(run.signal);
    return { status: 'completed', result: { restarted: true } };
  };
  const reason = await runAgent({
    ...options,
    store: asWatchdog(store),
    signal,
    handlers: new Map([['restart_agent', restartAgent]]),
    allowPower: false,
    speaker: {
      async heartbeat(session) {
        await session.reread();
        return {
          role: 'watchdog',
          watchdogVersion: version,
          watchdogState: guard.state,
          mainAgentRestartCount24h: restarts.inDay,
          flapDetected: restarts.flapping,
        };
      },
      async heard(_answer, session) {
        guard.serverHeard();
        const { takenBack } = guard;
        if (takenBack === undefined) return;
        await reportRollBack(session, 'agent', takenBack);
        guard.takenBack = undefined;
      },
    },
  }).finally(() => over.abort());
  await watching;
  if (reason === 'stopped' && !removed.signal.aborted && keeper.pid !== undefined) {
    await keeper.stop(keeper.pid, timing.farewell + timing.killGrace);
  }
  return removed.signal.aborted ? 'uninstalled' : reason;
}

/** The agent's state as its watchdog sees it: with the watchdog's token, and never written. */
function asWatchdog(store: StateStore): StateStore {
  return {
    async read() {
      const state = await store.read();
      if (!state) return undefined;
      const { pendingTokens: _, ...known } = state;
      return { ...known, tokens: { ...state.tokens, authToken: state.tokens.watchdogAuthToken } };
    },
    write: async () => undefined,
    remove: async () => undefined,
  };
}
