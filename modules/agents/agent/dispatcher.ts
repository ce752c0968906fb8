/** Runs the commands the server delivers: each once, a few at a time, with a result for every one. */
import { RefusedError } from './client.ts';
import { type CommandHost, failed, type Handler, type Outcome } from './commands/contract.ts';
import { isCommandId, type Journal } from './journal.ts';
import type { Outbox } from './outbox.ts';
import { truncateText } from './process/output.ts';
import type { Session } from './session.ts';
import type { Command } from './wire.ts';

/** More would let a burst of scripts take the machine from its user. */
const AT_ONCE = 8;
const ERROR_LIMIT_BYTES = 10_000;
/** The server has ended the command meanwhile, or never knew it. */
const NOT_WANTED = new Set([404, 409]);

export interface DispatcherOptions {
  journal: Journal;
  outbox: Outbox;
  session: Session;
  handlers: ReadonlyMap<string, Handler>;
  host: CommandHost;
  signal: AbortSignal;
  log: (line: string) => void;
  onUninstall: (commandId: string) => void;
}

export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #waiting: Command[] = [];
  readonly #running = new Map<string, Promise<void>>();

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

  /** Takes commands as they were delivered; repeats are answered from the journal. */
  async accept(commands: readonly Command[]): Promise<void> {
    for (const command of commands) {
      if (!isCommandId(command?.id) || typeof command.type !== 'string') continue;
      const { id } = command;
      if (this.#running.has(id) || this.#waiting.some((other) => other.id === id)) continue;
      if (this.#options.journal.get(id)) {
        await this.#options.journal.reopen(id);
        this.#options.outbox.wake();
      } else this.#waiting.push(command);
    }
    this.#pump();
  }

  /** Resolves when nothing runs any more; the signal of the options ends what does. */
  async ended(): Promise<void> {
    this.#waiting.length = 0;
    await Promise.all(this.#running.values());
  }

  #pump(): void {
    while (this.#running.size < AT_ONCE && !this.#options.signal.aborted) {
      const command = this.#waiting.shift();
      if (!command) return;
      const run = this.#run(command)
        .catch((fault) => this.#options.log(`Command ${command.id} could not be recorded: ${String(fault)}`))
        .finally(() => {
          this.#running.delete(command.id);
          this.#pump();
        });
      this.#running.set(command.id, run);
    }
  }

  async #run(command: Command): Promise<void> {
    const { journal, outbox, log, onUninstall } = this.#options;
    const { id, type } = command;
    const startedAt = new Date().toISOString();
    const begin = performance.now();
    await journal.start(id, startedAt);
    const wanted = await this.#reportStart(id);
    if (wanted) log(`Command ${type} (${id}) runs.`);
    const { thenUninstall, ...outcome } = wanted ? await this.#outcome(command) : failed('the server withdrew it');
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
    const { handlers, host, signal } = this.#options;
    const handler = handlers.get(type);
    if (!handler) return failed('unknown command');
    if (signal.aborted) return failed('agent stopped while the command ran');
    try {
      return await handler(payload ?? {}, host, { commandId: id, signal });
    } catch (fault) {
      return failed(fault instanceof Error ? fault.message : String(fault));
    }
  }
}
