/** Signs of life that the agent leaves beside its state, so that a watchdog in another process can tell it from a hanging one. */
import { readFile, rename, writeFile } from 'node:fs/promises';

export interface PulseMark {
  pid: number;
  version: string;
  startedAt: string;
  /** When this was written. */
  at: string;
  /** When the server last answered a heartbeat of this process; null before the first. */
  heardAt: string | null;
  /** It was stopped on purpose. */
  stopped: boolean;
}

/** The last mark; undefined where there is none that can be read. */
export async function readPulse(path: string): Promise<PulseMark | undefined> {
  const text = await readFile(path, 'utf8').catch(() => '');
  try {
    const mark = JSON.parse(text) as PulseMark;
    return Number.isInteger(mark.pid) && Number.isFinite(Date.parse(mark.at)) ? mark : undefined;
  } catch {
    return undefined;
  }
}

/** Writes a mark now and then, from the same loop that the agent's work runs in. */
export class Pulse {
  readonly #path: string;
  readonly #mark: PulseMark;
  readonly #timer: NodeJS.Timeout;
  #writing: Promise<void>;

  /** @param everyMs between two marks. */
  constructor(path: string, version: string, everyMs: number) {
    this.#path = path;
    const now = new Date().toISOString();
    this.#mark = { pid: process.pid, version, startedAt: now, at: now, heardAt: null, stopped: false };
    this.#writing = this.#write();
    this.#timer = setInterval(() => this.#next(), everyMs).unref();
  }

  /** The server answered a heartbeat. */
  heard(): void {
    const first = this.#mark.heardAt === null;
    this.#mark.heardAt = new Date().toISOString();
    if (first) this.#next();
  }

  /** The last sign of life; `stopped` tells a watchdog that the agent ended on purpose. */
  async end(stopped: boolean): Promise<void> {
    clearInterval(this.#timer);
    this.#mark.stopped = stopped;
    this.#next();
    await this.#writing;
  }

  #next(): void {
    this.#writing = this.#writing.then(() => this.#write());
  }

  /** Not flushed to the disk: a mark that a power cut takes was that of a process that is no more. */
  async #write(): Promise<void> {
    this.#mark.at = new Date().toISOString();
    const fresh = `${this.#path}.tmp`;
    await writeFile(fresh, JSON.stringify(this.#mark), { mode: 0o600 })
      .then(() => rename(fresh, this.#path))
      .catch(() => undefined);
  }
}
