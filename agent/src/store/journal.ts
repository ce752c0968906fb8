/** Remembers the last commands and their results, so that none runs twice and no result is lost. */
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandResult } from '#agent-protocol';
import { truncateText } from '../process/output.ts';
import { isMarkAlive } from '../process/tree.ts';
import { writeAtomically } from './atomic-file.ts';

/** `started` has no result yet, `finished` waits for the server's word, `confirmed` is kept to answer repeats. */
export interface JournalEntry {
  id: string;
  sequence: number;
  phase: 'started' | 'finished' | 'confirmed';
  startedAt: string;
  result?: CommandResult;
}

/** Where entries are kept between runs of the process. */
export interface JournalStore {
  load(): Promise<JournalEntry[]>;
  save(entry: JournalEntry): Promise<void>;
  remove(id: string): Promise<void>;
  clear(): Promise<void>;
}

const KEEP = 1_000;
/** The server has the full text of a confirmed result; a repeat only needs its gist. */
const CONFIRMED_STREAM_BYTES = 16 * 1024;

/** Why a command has no result, by whether a process of it lives. */
const INTERRUPTED = {
  true: 'agent restarted while the command ran',
  false: 'the agent ended before it recorded the result; the command does not run any more',
  undefined: 'the agent ended before it recorded the result',
};

/** Ids that are safe as file names; the server sends UUIDs. */
export function isCommandId(id: unknown): id is string {
  return typeof id === 'string' && /^[A-Za-z0-9-]{1,64}$/.test(id);
}

/** The journal of one agent; every change is stored before the call returns. */
export class Journal {
  readonly #store: JournalStore;
  readonly #keep: number;
  readonly #entries = new Map<string, JournalEntry>();
  /** Asked for again while their result may already be on its way: that delivery does not count. */
  readonly #repeated = new Set<string>();
  #sequence = 0;

  private constructor(store: JournalStore, keep: number) {
    this.#store = store;
    this.#keep = keep;
  }

  /** Reads the stored entries and answers those that an earlier process started and never finished. */
  static async open(store: JournalStore, keep = KEEP): Promise<Journal> {
    const journal = new Journal(store, keep);
    const entries = (await store.load()).sort((a, b) => a.sequence - b.sequence);
    for (const entry of entries) {
      journal.#entries.set(entry.id, entry);
      journal.#sequence = Math.max(journal.#sequence, entry.sequence);
    }
    for (const entry of entries.filter(({ phase }) => phase === 'started')) {
      const { startedAt } = entry;
      const durationMs = Math.max(0, Date.now() - Date.parse(startedAt));
      const error = INTERRUPTED[String(await isMarkAlive(entry.id)) as keyof typeof INTERRUPTED];
      await journal.finish(entry.id, { status: 'failed', durationMs, startedAt, error });
    }
    return journal;
  }

  get(id: string): JournalEntry | undefined {
    return this.#entries.get(id);
  }

  /** Finished entries the server has not confirmed, oldest first. */
  undelivered(): JournalEntry[] {
    return [...this.#entries.values()].filter(({ phase }) => phase === 'finished');
  }

  /** Records that a command is about to run. */
  async start(id: string, startedAt: string): Promise<void> {
    this.#sequence += 1;
    await this.#put({ id, sequence: this.#sequence, phase: 'started', startedAt });
    await this.#forgetOldest();
  }

  /** Stores the result; `phase` is `confirmed` when the server has said beforehand that it does not want it. */
  async finish(id: string, result: CommandResult, phase: 'finished' | 'confirmed' = 'finished'): Promise<void> {
    await this.#change(id, { phase, result });
  }

  /** The server has the result, or will never want it. */
  async confirm(id: string): Promise<void> {
    await this.#change(id, { phase: 'confirmed', result: trimmed(this.#entries.get(id)?.result) });
    // Only now: the repeat may have come while the change was being stored.
    if (this.#repeated.delete(id)) await this.#change(id, { phase: 'finished' });
  }

  /** Queues the stored result again because the server delivered the command again. */
  async reopen(id: string): Promise<void> {
    const phase = this.#entries.get(id)?.phase;
    if (phase === 'finished') this.#repeated.add(id);
    if (phase === 'confirmed') await this.#change(id, { phase: 'finished' });
  }

  /** Shortens the streams of a result that the way to the server is too narrow for. */
  async shrink(id: string): Promise<void> {
    await this.#change(id, { result: trimmed(this.#entries.get(id)?.result) });
  }

  async #change(id: string, change: Partial<JournalEntry>): Promise<void> {
    const entry = this.#entries.get(id);
    if (entry) await this.#put({ ...entry, ...change });
  }

  async #put(entry: JournalEntry): Promise<void> {
    await this.#store.save(entry);
    this.#entries.set(entry.id, entry);
  }

  async #forgetOldest(): Promise<void> {
    for (const { id, phase } of this.#entries.values()) {
      if (this.#entries.size <= this.#keep) return;
      if (phase !== 'confirmed') continue;
      this.#entries.delete(id);
      await this.#store.remove(id);
    }
  }
}

function trimmed(result: CommandResult | undefined): CommandResult | undefined {
  if (!result) return undefined;
  const { stdout, stderr, result: large, ...rest } = result;
  // The output of a tool is not kept on this disk; small results are, because they say what a command did.
  const small = large === undefined || JSON.stringify(large).length > CONFIRMED_STREAM_BYTES ? {} : { result: large };
  return {
    ...rest,
    ...small,
    ...(stdout !== undefined && { stdout: truncateText(stdout, CONFIRMED_STREAM_BYTES) }),
    ...(stderr !== undefined && { stderr: truncateText(stderr, CONFIRMED_STREAM_BYTES) }),
  };
}

/** One file per command (0600) in a folder of its own (0700). */
export function diskJournal(folder: string): JournalStore {
  const fileOf = (id: string): string => join(folder, `${id}.json`);
  return {
    async load() {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const entries: JournalEntry[] = [];
      for (const name of await readdir(folder)) {
        // A leftover of a write that the machine did not survive; its target is still whole.
        if (name.endsWith('.tmp')) await rm(join(folder, name), { force: true });
        if (!name.endsWith('.json')) continue;
        const entry = parseEntry(await readFile(join(folder, name), 'utf8'));
        if (entry && `${entry.id}.json` === name) entries.push(entry);
      }
      return entries;
    },
    save: (entry) => writeAtomically(fileOf(entry.id), JSON.stringify(entry)),
    remove: (id) => rm(fileOf(id), { force: true }),
    clear: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Remembers nothing beyond the process. */
export function memoryJournal(): JournalStore {
  const nothing = async (): Promise<void> => undefined;
  return { load: async () => [], save: nothing, remove: nothing, clear: nothing };
}

function parseEntry(text: string): JournalEntry | undefined {
  try {
    const entry = JSON.parse(text);
    return isCommandId(entry?.id) && typeof entry.sequence === 'number' ? entry : undefined;
  } catch {
    return undefined;
  }
}
