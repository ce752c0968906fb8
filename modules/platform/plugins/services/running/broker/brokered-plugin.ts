/** A plugin's process as the server sees it, through the broker. */
import type { StartedPlugin } from '#plugin-sdk/host';
import type { End, Invocation, Outcome, RunningPlugin } from '../process/invocation.ts';
import type { ToBroker } from './wire.ts';

type Told = { [Kind in ToBroker['do']]: Omit<Extract<ToBroker, { do: Kind }>, 'id'> }['invoke' | 'stop' | 'die'];

export class BrokeredPlugin implements RunningPlugin {
  readonly ended: Promise<End>;
  lastUsed = performance.now();
  /** Invocations under way, by their own ids. */
  readonly invocations = new Map<string, Invocation>();
  private readonly tell: (message: Told) => void;
  private readonly started = Promise.withResolvers<StartedPlugin>();
  private readonly settleEnded: (end: End) => void;
  private readonly calls = new Map<number, { settle(outcome: Outcome): void; at: number }>();
  private count = 0;
  private end: End | null = null;

  constructor(tell: (message: Told) => void) {
    this.tell = tell;
    const { promise, resolve } = Promise.withResolvers<End>();
    this.ended = promise;
    this.settleEnded = resolve;
    this.started.promise.catch(() => undefined);
  }

  get busy(): number {
    return this.calls.size;
  }

  get alive(): boolean {
    return this.end === null;
  }

  start(): Promise<StartedPlugin> {
    return this.started.promise;
  }

  hasStarted(plugin: StartedPlugin | undefined, fault: string | undefined): void {
    if (plugin) this.started.resolve(plugin);
    else this.started.reject(new Error(fault ?? 'It did not start'));
  }

  async invoke(invocation: Invocation): Promise<Outcome> {
    if (this.end) return { ok: false, code: 'CRASHED', message: this.end.reason, afterMs: null, ms: 0 };
    const call = ++this.count;
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    this.calls.set(call, { settle: resolve, at: performance.now() });
    this.invocations.set(invocation.id, invocation);
    this.tell({ do: 'invoke', call, invocation });
    const outcome = await promise;
    this.calls.delete(call);
    this.invocations.delete(invocation.id);
    this.lastUsed = performance.now();
    return outcome;
  }

  hasAnswered(call: number, outcome: Outcome): void {
    this.calls.get(call)?.settle(outcome);
  }

  stop(): void {
    if (this.end) return;
    this.end = { kind: 'stopped', reason: 'It was stopped' };
    this.tell({ do: 'stop' });
  }

  die(end: End): void {
    if (this.end) return;
    this.end = end;
    this.tell({ do: 'die', end });
  }

  hasEnded(end: End): void {
    this.end ??= end;
    const { reason } = this.end;
    this.started.reject(new Error(reason));
    for (const { settle, at } of this.calls.values())
      settle({ ok: false, code: 'CRASHED', message: reason, afterMs: null, ms: Math.round(performance.now() - at) });
    this.settleEnded(this.end);
  }
}
