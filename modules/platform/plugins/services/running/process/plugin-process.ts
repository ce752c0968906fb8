/** One plugin's process as the host sees it: calls to it, calls from it, and reasons to end it. Nothing it says is trusted. */
import { randomBytes } from 'node:crypto';
import {
  denialLine,
  exitCodes,
  HostError,
  type HostErrorCode,
  limits as LIMITS,
  type PluginMessage,
  PROTOCOL_VERSION,
  Rates,
  type ResourceLimits,
  type StartedPlugin,
  toWireError,
  type WireError,
} from '#plugin-sdk/host';
import type { Ended, Running } from '../runners/runner.ts';
import type { End, Invocation, Outcome, RunningPlugin } from './invocation.ts';
import { MessageReader } from './message-reader.ts';
import { overBudget, watchUsage } from './watches.ts';
import { INTERNAL, lastWords, mustBeStarted } from './words.ts';

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
  /** @param bytes of the whole message */
  call(invocation: Invocation, method: string, params: unknown, bytes: number): Promise<unknown>;
  /** Worth a line in the plugin's log. */
  note(message: string, invocation: Invocation | null): void;
}

const START_MS = 15_000;

/** Calls that wait here; beyond it nothing more is read from the process until some have ended. */
const MOST_WAITING = 32;
/** Bytes that it may leave unread before nothing more is sent to it, and for how long. */
const MOST_UNREAD = 2 * 1_048_576;
const UNREAD_MS = 10_000;
/** Answers to its own calls included. */
const MOST_WRITTEN = 4 * MOST_UNREAD;
const UNREAD: End = { kind: 'protocol', reason: 'It does not read what it is sent' };
const DENIALS_PER_MINUTE = 20;

export class PluginProcess implements RunningPlugin {
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
  private waiting = 0;
  private held = false;
  private unread: NodeJS.Timeout | null = null;
  private readonly denials = new Rates();

  constructor(running: Running, limits: ResourceLimits, events: ProcessEvents) {
    this.running = running;
    this.limits = limits;
    this.events = events;
    const reader = new MessageReader({
      hear: (message, bytes) => this.hear(message, bytes),
      refuse: ({ id, token, method }, code) => this.refused(id, token, method ?? '', code),
      dropped: ({ token }, keys) =>
        this.events.note(`Dropped from what it sent: ${keys.slice(0, 5).join(', ')}`, this.invocationOf(token)),
      fault: (end) => this.die(end),
    });
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
    const unread = this.unreadFault();
    if (unread) return { ok: false, code: 'BUSY', message: unread, afterMs: null, ms: 0 };
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

  /** A process that does not read gets no more, and ends when it goes on so. */
  private unreadFault(): string | null {
    if (this.running.unread() < MOST_UNREAD) return null;
    this.unread ??= setTimeout(() => {
      this.unread = null;
      if (this.running.unread() >= MOST_UNREAD) this.die(UNREAD);
    }, UNREAD_MS).unref();
    return UNREAD.reason;
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
    if (this.running.unread() > MOST_WRITTEN) this.die(UNREAD);
    this.running.write(line);
    return true;
  }

  private hear(message: PluginMessage, bytes: number): void {
    this.signs += 1;
    if ('method' in message) this.called(message, bytes);
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

  private invocationOf(token: string): Invocation | null {
    return [...this.open.values()].find((open) => open.token === token)?.invocation ?? null;
  }

  /** Without parsing what it is about. */
  private refused(id: string, token: string, method: string, code: 'UNKNOWN_METHOD' | 'TOO_LARGE'): void {
    this.signs += 1;
    const name = method.slice(0, 64);
    const error = new HostError(
      code,
      code === 'TOO_LARGE' ? `The call of ${name} is too large` : `There is no method ${name}`,
    );
    if (this.denials.take('', DENIALS_PER_MINUTE)) this.events.note(denialLine(name, error), this.invocationOf(token));
    this.answer(id, { error: toWireError(error) });
  }

  private answer(id: string, message: object): boolean {
    return this.end === null && this.send({ id, ...message });
  }

  private called({ id, method, token, params }: Extract<PluginMessage, { method: string }>, bytes: number): void {
    const one = [...this.open.values()].find((open) => open.token === token);
    const refuse = (code: HostErrorCode, message: string) => this.answer(id, { error: { code, message } });
    if (!one || one.over) {
      refuse('INVALID_TOKEN', 'The invocation has ended, or never was');
      return;
    }
    if (one.calls >= LIMITS.MAX_OPEN_CALLS) {
      refuse('RATE_LIMITED', 'Too many calls stand open');
      return;
    }
    one.calls += 1;
    this.count(1);
    this.events
      .call(one.invocation, method, params, bytes)
      .then(
        (result) => {
          if (!this.answer(id, { result: result ?? null })) refuse('TOO_LARGE', 'The answer is larger than 1 MB');
        },
        (error: unknown) => this.answer(id, { error: error instanceof HostError ? toWireError(error) : INTERNAL }),
      )
      .finally(() => {
        one.calls -= 1;
        this.count(-1);
      });
  }

  /** Its pipe fills while too many of its calls wait, and then it waits itself. */
  private count(by: 1 | -1): void {
    this.waiting += by;
    const hold = this.waiting >= MOST_WAITING || (this.held && this.waiting > MOST_WAITING / 2);
    if (hold !== this.held) this.running.holdBack(hold);
    this.held = hold;
  }
}
