/** The server's end of the broker: started with the first plugin, and again when it was lost. */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { HostError, toWireError, type WireError } from '#plugin-sdk/host';
import type { Invocation } from '../process/invocation.ts';
import type { Walls } from '../runners/runner.ts';
import { BrokeredPlugin } from './brokered-plugin.ts';
import type { Settings, StartRequest, ToBroker, ToServer } from './wire.ts';

const MAIN = join(import.meta.dirname, 'main.ts');
const MEMORY_MB = 512;

export interface PluginEvents {
  /** Rejects with a HostError where the plugin may see why. */
  call(invocation: Invocation, method: string, params: unknown): Promise<unknown>;
  /** Worth a line in the plugin's log. */
  note(message: string, invocation: Invocation | null): void;
}
export interface Ready {
  name: string;
  walls: Walls;
}
interface Kept {
  plugin: BrokeredPlugin;
  events: PluginEvents;
}
const INTERNAL: WireError = { code: 'INTERNAL', message: 'The host could not do this' };
const LOST = { kind: 'stopped', reason: 'The broker of plugins has ended' } as const;

export class Broker {
  private readonly settings: Settings;
  private readonly log: (message: string) => void;
  private child: ChildProcess | null = null;
  private ready = Promise.withResolvers<Ready>();
  private readonly plugins = new Map<number, Kept>();
  private count = 0;

  /** @param log takes what it writes to its error output, which is nothing as a rule */
  constructor(settings: Settings, log: (message: string) => void) {
    this.settings = settings;
    this.log = log;
  }

  /** What isolates plugins here. Rejects where the broker does not start. */
  isReady(): Promise<Ready> {
    this.open();
    return this.ready.promise;
  }

  start(request: StartRequest, events: PluginEvents): BrokeredPlugin {
    const child = this.open();
    const id = ++this.count;
    const plugin = new BrokeredPlugin((message) => say(child, { ...message, id }));
    this.plugins.set(id, { plugin, events });
    say(child, { do: 'start', id, request });
    return plugin;
  }

  private open(): ChildProcess {
    if (this.child) return this.child;
    const child = fork(MAIN, [JSON.stringify(this.settings)], {
      // A session of its own, so that its work can stand back behind the server's.
      ...{ detached: true, env: {}, cwd: '/', stdio: ['ignore', 'ignore', 'pipe', 'ipc'] },
      execArgv: ['--disable-warning=ExperimentalWarning', `--max-old-space-size=${MEMORY_MB}`],
    });
    this.child = child;
    this.ready = Promise.withResolvers<Ready>();
    this.ready.promise.catch(() => undefined);
    child.on('message', (message: ToServer) => this.hear(child, message));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => this.log(text.trim().slice(0, 2_000)));
    child.once('error', () => this.lost(child));
    child.once('exit', () => this.lost(child));
    return child;
  }

  private lost(child: ChildProcess): void {
    if (this.child !== child) return;
    this.child = null;
    this.ready.reject(new Error(LOST.reason));
    const all = [...this.plugins.values()];
    this.plugins.clear();
    for (const { plugin } of all) plugin.hasEnded(LOST);
  }

  private hear(child: ChildProcess, message: ToServer): void {
    if (message.is === 'ready') {
      this.ready.resolve(message);
      return;
    }
    const kept = this.plugins.get(message.id);
    if (!kept) return;
    const { plugin, events } = kept;
    if (message.is === 'started') plugin.hasStarted(message.plugin, message.fault);
    else if (message.is === 'outcome') plugin.hasAnswered(message.call, message.outcome);
    else if (message.is === 'note')
      events.note(message.message, plugin.invocations.get(message.invocation ?? '') ?? null);
    else if (message.is === 'asked') void this.answer(child, kept, message);
    else {
      this.plugins.delete(message.id);
      plugin.hasEnded(message.end);
    }
  }

  private async answer(
    child: ChildProcess,
    { plugin, events }: Kept,
    { ask, invocation: id, method, params }: Extract<ToServer, { is: 'asked' }>,
  ): Promise<void> {
    const invocation = plugin.invocations.get(id);
    try {
      if (!invocation) throw new HostError('INVALID_TOKEN', 'The invocation has ended');
      say(child, { do: 'answer', ask, result: await events.call(invocation, method, params) });
    } catch (error) {
      say(child, { do: 'answer', ask, error: error instanceof HostError ? toWireError(error) : INTERNAL });
    }
  }

  /** Ends what runs there. */
  stop(): void {
    const child = this.child;
    if (!child) return;
    this.lost(child);
    if (child.connected) child.disconnect();
  }
}

/** What cannot be said because it has just ended is settled by its end. */
function say(child: ChildProcess, message: ToBroker): void {
  if (child.connected) child.send(message, () => undefined);
}
