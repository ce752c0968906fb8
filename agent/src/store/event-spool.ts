/** Sends events of the operating system: each batch is on disk before it is sent, and stays there until it has arrived. */
import { readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { SystemEvent } from '#agent-protocol';
import type { SystemEvents } from '../collect/system-events.ts';
import { RefusedError } from '../link/client.ts';
import type { Session } from '../link/session.ts';
import { ensurePrivateFolder, writeAtomically } from './atomic-file.ts';

export interface Spooled {
  /** Where the reading after this batch goes on. */
  cursor?: string;
  /** What waits to be sent; empty when all has arrived. */
  events: SystemEvent[];
}
export interface SpoolStore {
  load(): Promise<Spooled>;
  save(spooled: Spooled): Promise<void>;
  clear(): Promise<void>;
}
export type ReadEvents = (cursor: string | undefined) => Promise<SystemEvents | undefined>;

/** Batches of one round: a journal in flood must not keep the agent from its other work. */
const MOST_BATCHES = 5;

export class EventSpool {
  readonly #session: Session;
  readonly #store: SpoolStore;
  readonly #read: ReadEvents;
  #sending: Promise<number> | undefined;

  constructor(session: Session, store: SpoolStore, read: ReadEvents) {
    this.#session = session;
    this.#store = store;
    this.#read = read;
  }

  /**
   * Sends what waits and then what is new; returns how many events went. Throws what the server or the disk said: the
   * batch stays for the next round. Callers that come while it runs share its outcome.
   */
  send(): Promise<number> {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async #sendAll(): Promise<number> {
    let sent = 0;
    let spooled = await this.#store.load();
    for (let batch = 0; batch < MOST_BATCHES; batch++) {
      if (spooled.events.length === 0) {
        const read = await this.#read(spooled.cursor);
        // A cursor that the journal no longer knows would fail for ever.
        if (!read && spooled.cursor !== undefined) await this.#store.clear();
        if (!read || (read.events.length === 0 && read.cursor === spooled.cursor)) return sent;
        spooled = { events: read.events, ...(read.cursor !== undefined && { cursor: read.cursor }) };
        // The journal is where the rest waits: nothing more is read until this batch has arrived.
        await this.#store.save(spooled);
      }
      if (spooled.events.length > 0) await this.#deliver(spooled.events);
      sent += spooled.events.length;
      spooled = { ...spooled, events: [] };
      await this.#store.save(spooled);
    }
    return sent;
  }

  async #deliver(events: SystemEvent[]): Promise<void> {
    try {
      await this.#session.call('PUT', 'eventlogs', { events });
    } catch (fault) {
      // What the server cannot read now it will not be able to read later, and it must not hold up what follows.
      if (!(fault instanceof RefusedError && (fault.status === 400 || fault.status === 413))) throw fault;
    }
  }
}

/** The spool in a file of mode 0600; one that is damaged counts as none. */
export function fileSpool(path: string): SpoolStore {
  return {
    async load() {
      try {
        const { cursor, events } = JSON.parse(await readFile(path, 'utf8')) as Spooled;
        return { ...(typeof cursor === 'string' && { cursor }), events: Array.isArray(events) ? events : [] };
      } catch {
        return { events: [] };
      }
    },
    async save(spooled) {
      await ensurePrivateFolder(dirname(path));
      await writeAtomically(path, JSON.stringify(spooled));
    },
    clear: () => rm(path, { force: true }),
  };
}
