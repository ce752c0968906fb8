/** Runs the commands the server delivers: each once, a few at a time, with a result for every one. */

import type { Command } from '#agent-protocol';
import { type CommandHost, failed, type Handler, type Outcome } from './commands/contract.ts';
import { switchedOff } from './commands/switched-off.ts';
import { isInteractive, isReading } from './commands/tools.ts';
import type { Health } from './health.ts';
import { RefusedError } from './link/client.ts';
import type { Log } from './link/log.ts';
import type { Outbox } from './link/outbox.ts';
import type { Session } from './link/session.ts';
import { truncateText } from './process/output.ts';
import { isCommandId, type Journal } from './store/journal.ts';

/** How many run at once. Scripts may take hours and a technician waits for tools, so each has a limit of its own. */
type Lane = 'scripts' | 'tools';
/** More would let a burst of commands take the machine from its user. */
const AT_ONCE: Record<Lane, number> = { scripts: 8, tools: 8 };
/** Names another command in its payload, which is to stop. */
const CANCEL_COMMAND = 'cancel_command';
const ERROR_LIMIT_BYTES = 10_000;
/** The server has ended the command meanwhile, or never knew it. */
const NOT_WANTED = new Set([404, 409]);

const laneOf = ({ type }: Command): Lane => (isInteractive(type) ? 'tools' : 'scripts');

export interface DispatcherOptions {
  journal: Journal;
  outbox: Outbox;
  session: Session;
  handlers: ReadonlyMap<string, Handler>;
  host: CommandHost;
  signal: AbortSignal;
  log: Log;
  health: Health;
  onUninstall: (commandId: string) => void;
}

export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #waiting: Command[] = [];
  readonly #running = new Map<string, { lane: Lane; run: Promise<void> }>();
  #held = false;
  /** Ends one running command. */
  readonly #stops = new Map<string, AbortController>();

  constructor(options: DispatcherOptions) {
    this.#options = options;
  }

  /** Whether commands run at this moment. */
  get busy(): boolean {
    return this.#running.size > 0;
  }

  /** Whether more commands would only wait here, where no other node can give them to anyone. */
  get full(): boolean {
    return this.#waiting.length > 0;
  }

  /** Lets further commands wait; what it returns lets them run. */
  hold(): () => void {
    this.#held = true;
    return () => {
      this.#held = false;
      this.#pump();
    };
  }

  /** Takes commands as they were delivered; repeats are answered from the journal. */
  async accept(commands: readonly Command[]): Promise<void> {
    for (const command of commands) {
      if (!isCommandId(command?.id) || typeof command.type !== 'string') continue;
      const { id, type } = command;
      if (this.#running.has(id) || this.#waiting.some((other) => other.id === id)) continue;
      if (this.#options.journal.get(id)) {
        await this.#options.journal.reopen(id);
        this.#options.outbox.wake();
      } else if (type === CANCEL_COMMAND) this.#begin(command);
      else this.#waiting.push(command);
    }
    this.#pump();
  }

  /** Resolves when nothing runs any more; the signal of the options ends what does. */
  async ended(): Promise<void> {
    this.#waiting.length = 0;
    await Promise.all([...this.#running.values()].map(({ run }) => run));
  }

  #pump(): void {
    for (const command of [...this.#waiting]) {
      if (this.#held || this.#options.signal.aborted) return;
      const lane = laneOf(command);
      const inLane = [...this.#running.values()].filter((other) => other.lane === lane);
      if (inLane.length >= AT_ONCE[lane]) continue;
      this.#waiting.splice(this.#waiting.indexOf(command), 1);
      this.#begin(command);
    }
  }

  #begin(command: Command): void {
    this.#stops.set(command.id, new AbortController());
    const { health, log } = this.#options;
    const run = this.#run(command)
      .then(() => health.works('commands'))
      .catch((fault) => {
        health.fails('commands', 'error');
        log(`Command ${command.id} could not be recorded: ${String(fault)}`, 'error');
      })
      .finally(() => {
        this.#running.delete(command.id);
        this.#stops.delete(command.id);
        this.#pump();
      });
    this.#running.set(command.id, { lane: laneOf(command), run });
  }

  /** A command that cancels another one does not queue behind it. */
  #cancel(payload: Record<string, unknown>): Outcome {
    const id = String(payload.commandId);
    const index = this.#waiting.findIndex((one) => one.id === id);
    const [waiting] = index < 0 ? [] : this.#waiting.splice(index, 1);
    // It runs for as long as it takes to say that it was cancelled.
    if (waiting) this.#begin(waiting);
    this.#stops.get(id)?.abort();
    const state = this.#stops.has(id) ? 'stopping' : this.#options.journal.get(id) ? 'ended' : 'unknown';
    return { status: 'completed', result: { state } };
  }

  async #run(command: Command): Promise<void> {
    const { journal, outbox, log, onUninstall } = this.#options;
    const { id, type } = command;
    const startedAt = new Date().toISOString();
    const begin = performance.now();
    await journal.start(id, startedAt);
    const started = this.#reportStart(id);
    // Reading is harmless if the server withdrew the command, and the technician waits one round trip less.
    const early = isReading(type) ? this.#outcome(command) : undefined;
    const wanted = await started;
    if (wanted) log(`Command ${type} (${id}) runs.`);
    const { thenUninstall, ...outcome } = wanted
      ? await (early ?? this.#outcome(command))
      : failed('the server withdrew it');
    const error = outcome.error === undefined ? {} : { error: truncateText(outcome.error, ERROR_LIMIT_BYTES) };
    const durationMs = Math.round(performance.now() - begin);
    await journal.finish(id, { ...outcome, ...error, durationMs, startedAt }, wanted ? 'finished' : 'confirmed');
    if (wanted) log(`Command ${type} (${id}) ${outcome.status}${outcome.error ? `: ${outcome.error}` : ''}.`);
    outbox.wake();
    if (thenUninstall) onUninstall(id);
  }

  /** False when the server no longer wants the command; a lost report is no reason not to run it. */
  async #reportStart(id: string): Promise<boolean> {
    try {
      await this.#options.session.call('POST', `commands/${id}/start`, {}, { signal: this.#options.signal });
      return true;
    } catch (fault) {
      return !(fault instanceof RefusedError && NOT_WANTED.has(fault.status));
    }
  }

  async #outcome({ id, type, payload }: Command): Promise<Outcome> {
    const { handlers, host, session } = this.#options;
    if (type === CANCEL_COMMAND) return this.#cancel(payload ?? {});
    const off = switchedOff(session.state.config, type);
    if (off) return failed(off);
    const stop = this.#stops.get(id)?.signal;
    const signal = stop ? AbortSignal.any([this.#options.signal, stop]) : this.#options.signal;
    const cancelled: Outcome = { status: 'cancelled', error: 'cancelled while it ran' };
    if (stop?.aborted) return { status: 'cancelled', error: 'cancelled before it ran' };
    const handler = handlers.get(type);
    if (!handler) return failed('unknown command');
    if (signal.aborted) return failed('agent stopped while the command ran');
    try {
      const outcome = await handler(payload ?? {}, host, { commandId: id, signal });
      // What was done before anybody heard of the wish stays done.
      return stop?.aborted && outcome.status !== 'completed' ? { ...outcome, ...cancelled } : outcome;
    } catch (fault) {
      if (stop?.aborted) return cancelled;
      return failed(fault instanceof Error ? fault.message : String(fault));
    }
  }
}
