/** One plugin's process as the host sees it: calls to it, calls from it, and reasons to end it. Nothing it says is trusted. */
import { randomBytes } from 'node:crypto';
import {
  exitCodes,
  HostError,
  type HostErrorCode,
  limits as LIMITS,
  type PluginMessage,
  PROTOCOL_VERSION,
  type ResourceLimits,
  type StartedPlugin,
  toWireError,
  type WireError,
} from '#plugin-sdk/host';
import type { Ended, Running } from '../runners/runner.ts';
import type { End, Invocation, Outcome } from './invocation.ts';
import { MessageReader } from './message-reader.ts';
import { overBudget, watchUsage } from './watches.ts';

interface Open {
  invocation: Invocation;
  token: string;
  startedAt: number;
  cpuAtStart: number | null;
  /** Which of the process's invocations it is. */
  n: number;
  calls: number;
  over: boolean;
  settle(outcome: Outcome): void;
}
export interface ProcessEvents {
  call(invocation: Invocation, method: string, params: unknown): Promise<unknown>;
  /** Worth a line in the plugin's log. */
  note(message: string, invocation: Invocation | null): void;
}

const START_MS = 15_000;

export class PluginProcess {
  readonly ended: Promise<End>;
  lastUsed = performance.now();
  private readonly running: Running;
  private readonly limits: ResourceLimits;
  private readonly events: ProcessEvents;
  private readonly open = new Map<string, Open>();
  private readonly stopWatch: () => void;
  private end: End | null = null;
  private settleStart: ((said: { result?: unknown; error?: WireError }) => void) | null = null;
  private n = 0;
  /** Messages, either way. */
  private signs = 0;

  constructor(running: Running, limits: ResourceLimits, events: ProcessEvents) {
    this.running = running;
    this.limits = limits;
    this.events = events;
    const reader = new MessageReader(
      (message) => this.hear(message),
      (end) => this.die(end),
    );
    running.onData((chunk) => {
      if (this.alive) reader.feed(chunk);
    });
    this.stopWatch = watchUsage(
      running,
      limits,
      () => ({ signs: this.signs, oldest: this.cpuSince() }),
      (end) => this.die(end),
    );
    this.ended = running.ended.then((ended) => this.wasEnded(ended));
  }

  get busy(): number {
    return this.open.size;
  }

  get alive(): boolean {
    return this.end === null;
  }

  /** Loads the plugin. Rejects with what went wrong. */
  async start(main: string): Promise<StartedPlugin> {
    const late = setTimeout(() => this.die({ kind: 'timeout', reason: 'It did not start in time' }), START_MS);
    try {
      const said = await new Promise<{ result?: unknown; error?: WireError }>((resolve) => {
        this.settleStart = resolve;
        this.send({ id: 'start', method: 'start', params: { protocol: PROTOCOL_VERSION, main } });
      });
      if (said.error) throw new Error(said.error.message);
      return mustBeStarted(said.result);
    } finally {
      clearTimeout(late);
      this.settleStart = null;
    }
  }

  async invoke(invocation: Invocation): Promise<Outcome> {
    const startedAt = performance.now();
    if (this.end) return { ok: false, code: 'CRASHED', message: this.end.reason, afterMs: null, ms: 0 };
    const n = ++this.n;
    const id = `h${n}`;
    const token = randomBytes(16).toString('base64url');
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const cpuAtStart = this.running.usage()?.cpuMs ?? null;
    const one: Open = { invocation, token, startedAt, cpuAtStart, n, calls: 0, over: false, settle: resolve };
    this.open.set(id, one);
    const { kind, handler, args, config, org, timeoutMs } = invocation;
    const params = { kind, handler, args, invocationId: invocation.id, token, config, org, timeoutMs };
    if (!this.send({ id, method: 'invoke', params })) {
      this.open.delete(id);
      return { ok: false, code: 'PERMANENT', message: 'The input is larger than 1 MB', afterMs: null, ms: 0 };
    }
    const late = setTimeout(() => this.overdue(id, one), timeoutMs);
    const outcome = await promise;
    clearTimeout(late);
    this.lastUsed = performance.now();
    return outcome;
  }

  /** The caller no longer waits; the process stays if the handler ends soon. */
  private overdue(id: string, one: Open): void {
    one.over = true;
    one.settle(this.failure(one, 'TIMEOUT', `It did not answer within ${one.invocation.timeoutMs} ms`));
    this.send({ method: 'cancel', params: { invocation: one.invocation.id } });
    setTimeout(() => {
      if (this.open.has(id))
        this.die({ kind: 'timeout', reason: `${one.invocation.hook} did not end when its time was over` });
    }, LIMITS.GRACE_MS).unref();
  }

  private failure({ startedAt }: Open, code: string, message: string, afterMs: number | null = null): Outcome {
    return { ok: false, code, message, afterMs, ms: Math.round(performance.now() - startedAt) };
  }

  /** Asks it to end; running calls fail. */
  stop(): void {
    if (this.end) return;
    this.end = { kind: 'stopped', reason: 'It was stopped' };
    this.send({ method: 'stop' });
    setTimeout(() => this.running.kill(), LIMITS.GRACE_MS).unref();
  }

  die(end: End): void {
    if (this.end) return;
    this.end = end;
    this.running.kill();
  }

  private wasEnded({ code, signal, stderr }: Ended): End {
    this.stopWatch();
    const cpu = code === exitCodes.cpu;
    const outOfMemory =
      code === exitCodes.memory ||
      /heap out of memory|Allocation failed|Failed to allocate|out of memory/i.test(stderr);
    this.end ??= outOfMemory
      ? { kind: 'memory', reason: `It ran out of memory (${this.limits.memoryMb} MB)` }
      : cpu
        ? { kind: 'cpu', reason: overBudget(this.limits) }
        : { kind: 'crashed', reason: `It ended by itself (${signal ?? code}): ${lastWords(stderr)}` };
    const { reason } = this.end;
    this.settleStart?.({ error: { code: 'CRASHED', message: reason } });
    for (const one of this.open.values()) one.settle(this.failure(one, 'CRASHED', reason));
    this.open.clear();
    return this.end;
  }

  /** Processor time at the start of the oldest running call, and the number of calls since. */
  private cpuSince(): { cpuMs: number; calls: number } | null {
    const [oldest] = this.open.values();
    if (!oldest || oldest.cpuAtStart === null) return null;
    return { cpuMs: oldest.cpuAtStart, calls: this.n - oldest.n + 1 };
  }

  private send(message: object): boolean {
    const line = JSON.stringify(message);
    if (Buffer.byteLength(line) > LIMITS.MAX_MESSAGE_BYTES) return false;
    this.signs += 1;
    this.running.write(line);
    return true;
  }

  private hear(message: PluginMessage): void {
    this.signs += 1;
    if ('method' in message) this.called(message);
    else this.answered(message);
  }

  private answered(message: Exclude<PluginMessage, { method: string }>): void {
    const { id, token, error } = message;
    if (id === 'start' && token === 'start' && this.settleStart) {
      this.settleStart(message);
      return;
    }
    const one = this.open.get(id);
    if (!one || one.token !== token) {
      this.die({ kind: 'protocol', reason: 'It answered what it was not asked, or with a forged token' });
      return;
    }
    this.open.delete(id);
    if (one.over) this.events.note('A result came after its deadline and was discarded', one.invocation);
    else if (error) one.settle(this.failure(one, error.code, error.message, error.afterMs ?? null));
    else one.settle({ ok: true, result: message.result, ms: Math.round(performance.now() - one.startedAt) });
  }

  private called({ id, method, token, params }: Extract<PluginMessage, { method: string }>): void {
    const one = [...this.open.values()].find((open) => open.token === token);
    const answer = (message: object) => this.end === null && this.send({ id, ...message });
    const refuse = (code: HostErrorCode, message: string) => answer({ error: { code, message } });
    if (!one || one.over) {
      refuse('INVALID_TOKEN', 'The invocation has ended, or never was');
      return;
    }
    if (one.calls >= LIMITS.MAX_OPEN_CALLS) {
      refuse('RATE_LIMITED', 'Too many calls stand open');
      return;
    }
    one.calls += 1;
    this.events
      .call(one.invocation, method, params)
      .then(
        (result) => {
          if (!answer({ result: result ?? null })) refuse('TOO_LARGE', 'The answer is larger than 1 MB');
        },
        (error: unknown) => answer({ error: error instanceof HostError ? toWireError(error) : INTERNAL }),
      )
      .finally(() => {
        one.calls -= 1;
      });
  }
}

const INTERNAL: WireError = { code: 'INTERNAL', message: 'The host could not do this' };

function mustBeStarted(result: unknown): StartedPlugin {
  const { apiVersion, handlers, lifecycle } = (result ?? {}) as Partial<StartedPlugin>;
  const texts = (value: unknown): value is string[] =>
    Array.isArray(value) && value.every((one) => typeof one === 'string');
  if (typeof apiVersion !== 'string' || !texts(handlers) || !texts(lifecycle))
    throw new Error('It did not say what it has');
  return { apiVersion, handlers, lifecycle };
}

/** The line of an uncaught error that names it, without the source excerpt around it. */
function lastWords(stderr: string): string {
  const lines = stderr.split('\n').map((line) => line.trim());
  return (
    lines.find((line) => /^\w*(Error|Exception)\b.*/.test(line)) ??
    lines.findLast((line) => line !== '') ??
    'no reason'
  ).slice(0, 300);
}
