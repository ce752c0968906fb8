/** What the agent says about itself: all of it on its console, and from a level on to the server. */
import { LOG_LEVELS, type LogEntry, type LogLevel, MAX_LOG_LINES } from '#agent-protocol';
import { isOn } from '../features.ts';
import { AGENT_VERSION } from '../version.ts';
import { RefusedError } from './client.ts';
import type { Log } from './log.ts';
import type { Session } from './session.ts';

const USUAL: LogLevel = 'warn';
/** Lines that wait while there is no server; the oldest go first. */
const MAX_WAITING_LINES = 2_000;
const MAX_MESSAGE_CHARACTERS = 8_000;
const MINUTE_MS = 60_000;

export class Diary {
  readonly #console: Log;
  #session: Session | undefined;
  #lines: LogEntry[] = [];
  #lost = 0;
  #level: LogLevel = USUAL;
  /** When the usual level comes back, on the clock of performance.now(). */
  #until = Number.POSITIVE_INFINITY;
  #sending: Promise<void> | undefined;

  constructor(console: Log) {
    this.#console = console;
  }

  /** Writes a line. Bound to its diary, so that it can be handed on. */
  readonly log: Log = (line, level = 'info') => {
    this.#console(line, level);
    if (performance.now() > this.#until) this.#level = USUAL;
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(this.#level)) return;
    const message = line.slice(0, MAX_MESSAGE_CHARACTERS);
    const timestamp = new Date().toISOString();
    this.#lines.push({ timestamp, level, component: 'agent', message, agentVersion: AGENT_VERSION });
    if (this.#lines.length > MAX_WAITING_LINES) {
      this.#lines.shift();
      this.#lost += 1;
    }
    // Only once: while the server is unreachable, the next heartbeat tries again.
    if (this.#lines.length === MAX_LOG_LINES) this.send().catch(() => undefined);
  };

  /** From now on lines go to the server over this session. */
  attach(session: Session): void {
    this.#session = session;
  }

  /** Sends lines of this level and above for so many minutes; 0 until the agent starts anew. */
  setLevel(level: LogLevel, minutes: number): void {
    this.#level = level;
    this.#until = minutes === 0 ? Number.POSITIVE_INFINITY : performance.now() + minutes * MINUTE_MS;
  }

  /** Sends what waits. Throws what the server said: the lines stay for the next time. Callers meanwhile share the outcome. */
  send(): Promise<void> {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async #sendAll(): Promise<void> {
    // The server would drop them; what is said meanwhile is on the console only.
    if (this.#session && !isOn(this.#session.state.config, 'agent_logs')) {
      this.#lines = [];
      this.#lost = 0;
    }
    while (this.#session?.condition === 'ok' && this.#lines.length > 0) {
      const batch = this.#lines.slice(0, MAX_LOG_LINES);
      const lost = this.#lost;
      const [first] = batch;
      if (first && lost > 0) {
        const message = `${lost} older lines were lost while there was no server.`;
        batch.splice(0, 1, { ...first, level: 'warn', message: `${message} ${first.message}` });
      }
      try {
        await this.#session.call('POST', 'logs', { logs: batch });
      } catch (fault) {
        // What the server cannot read now it will not be able to read later.
        if (!(fault instanceof RefusedError && (fault.status === 400 || fault.status === 413))) throw fault;
      }
      this.#lost -= lost;
      const sent = new Set(batch.slice(1));
      this.#lines = this.#lines.filter((line) => line !== first && !sent.has(line));
    }
  }
}
