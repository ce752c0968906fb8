/** What a running agent is made of. */
import type { ReceivedAnswer, WatchdogHeartbeat } from '#agent-protocol';
import type { Handler } from './commands/contract.ts';
import type { Call } from './link/client.ts';
import type { Log } from './link/log.ts';
import type { Session } from './link/session.ts';
import type { Transfers } from './link/transfer.ts';
import type { OpenSocket } from './link/uplink.ts';
import type { Machine } from './machine.ts';
import type { Remove } from './removal.ts';
import type { ReadEvents, SpoolStore } from './store/event-spool.ts';
import type { JournalStore } from './store/journal.ts';
import type { Pulse } from './store/pulse.ts';
import type { StateStore } from './store/state.ts';
import type { Timing } from './timing.ts';
import type { SelfUpdate, SelfUpdateParts } from './update/self-update.ts';

export interface AgentOptions {
  call: Call;
  store: StateStore;
  journalStore: JournalStore;
  machine: Machine;
  handlers: ReadonlyMap<string, Handler>;
  timing: Timing;
  /** Aborts to stop the agent. */
  signal: AbortSignal;
  log: Log;
  allowPower: boolean;
  /** Opens the socket over which commands come at once; absent where the agent only polls. */
  openSocket?: OpenSocket;
  /** Carries the content of files; absent where the agent gives and takes none. */
  transfers?: Transfers;
  /** Events of the operating system and where they wait; absent where none are sent. */
  systemEvents?: { read: ReadEvents; store: SpoolStore };
  /** The folder whose files are values of custom fields; absent where none are sent. */
  customFields?: string;
  /** Removes programs and services from this machine; absent for an agent that the installer did not set up. */
  remove?: Remove;
  /** Overrides what the server says, for demonstrations. */
  intervalSeconds?: number;
  /** Creates the updater; absent where the program cannot be replaced or no service would restart it. */
  updates?: (parts: Omit<SelfUpdateParts, 'installed'>) => SelfUpdate;
  /** Leaves signs of life for a watchdog. */
  pulse?: Pulse;
  /** Speaks for another role than the main agent's: no load, no inventory. */
  speaker?: Speaker;
}

/** What a watchdog says and hears in the place of the main agent. */
export interface Speaker {
  heartbeat(session: Session): Promise<WatchdogHeartbeat>;
  heard(answer: ReceivedAnswer, session: Session): Promise<void>;
}
