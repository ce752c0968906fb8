/** The host of one plugin in memory: calls its handlers, and judges and performs what it asks. */
import {
  CallRates,
  denialLine,
  type Grant,
  type HandlerKind,
  HostError,
  logFields,
  logMessage,
  type Manifest,
  mustAllow,
  type OrgInfo,
  type Plugin,
  Rates,
  type ResourceLimits,
  tooManyLines,
} from '@quartermaster/plugin-sdk/host';
import { HandlerError, type NotedCall, type NotedLine } from './harness-types.ts';
import { type Invocation, invoke, type Outcome } from './invocation.ts';
import { perform, type World } from './world/world.ts';

export interface HostParts extends Grant {
  manifest: Manifest;
  plugin: Plugin;
  world: World;
  limits: ResourceLimits;
  org: OrgInfo;
  /** With its secrets, where that was granted. */
  shownConfig: Record<string, unknown>;
  patienceMs: number;
}
export interface Call {
  kind?: HandlerKind;
  handler: string;
  hook: string;
  args: readonly unknown[];
  timeoutMs?: number | undefined;
  depth?: number;
}
/** One plugin, one key. */
const KEY = 'plugin';

export class PluginHost {
  readonly parts: HostParts;
  readonly calls: NotedCall[] = [];
  readonly logs: NotedLine[] = [];
  /** Handlers that were called. */
  readonly handlersUsed = new Set<string>();
  /** What the test's own code threw, such as an assertion in an answer: not for the plugin to catch. */
  private faults: unknown[] = [];
  private readonly rates: CallRates;
  private readonly invocations: Rates;
  private readonly lines: Rates;

  constructor(parts: HostParts) {
    this.parts = parts;
    const { now } = parts.world.clock;
    this.rates = new CallRates(now);
    this.invocations = new Rates(now);
    this.lines = new Rates(now);
  }

  /** What the handler gave. Rejects with a HandlerError. */
  async run(call: Call): Promise<unknown> {
    const outcome = await this.try(call);
    if (outcome.ok) return outcome.result;
    throw new HandlerError(outcome.code, outcome.message, outcome.afterMs);
  }

  /** Never rejects for what the plugin does. */
  async try({ kind = 'handler', timeoutMs, depth = 0, ...call }: Call): Promise<Outcome> {
    const { limits, world, plugin, org, shownConfig, patienceMs } = this.parts;
    const { callsPerMinute, wallMsPerCall } = limits;
    this.handlersUsed.add(call.handler);
    if (!this.invocations.take(KEY, callsPerMinute)) {
      const message = `More than ${callsPerMinute} calls within a minute`;
      return { ok: false, code: 'BUSY', message, afterMs: this.invocations.millisecondsLeft() };
    }
    const outcome = await invoke(
      {
        ...{ plugin, org, config: shownConfig, clock: world.clock, patienceMs },
        call: (method, params, invocation) => this.asked(method, params, invocation),
        note: (message, { hook }) => this.write('warn', message, hook),
      },
      { ...call, kind, depth, timeoutMs: Math.min(timeoutMs ?? wallMsPerCall, wallMsPerCall) },
    );
    const [fault] = this.faults.splice(0);
    if (fault !== undefined) throw fault;
    if (!outcome.ok) this.write('error', `${call.hook} failed: ${outcome.message}`, call.hook);
    return outcome;
  }

  write(level: NotedLine['level'], message: string, hook: string | null, fields?: Record<string, unknown>): void {
    const at = new Date(this.parts.world.clock.now()).toISOString();
    this.logs.push({ level, message: logMessage(message), fields: logFields(fields), hook, at });
  }

  private async asked(method: string, params: unknown, invocation: Invocation & { id: string }): Promise<unknown> {
    const { hook, id: invocationId } = invocation;
    const at = new Date(this.parts.world.clock.now()).toISOString();
    const call: NotedCall = { method, params, hook, invocationId, at };
    if (method !== 'log') this.calls.push(call);
    try {
      call.result = await this.allowed(method, params, invocation);
      return call.result;
    } catch (error) {
      if (!(error instanceof HostError)) {
        this.faults.push(error);
        throw new HostError('INTERNAL', 'The host could not do this');
      }
      call.refused = error.code;
      if (this.rates.isNews(KEY)) this.write('warn', denialLine(method, error), hook, { code: error.code });
      throw error;
    }
  }

  private async allowed(method: string, params: unknown, { hook, timeoutMs, depth }: Invocation): Promise<unknown> {
    const { world, limits } = this.parts;
    mustAllow(method, params, this.parts);
    if (method === 'log') {
      this.say(params as { level: NotedLine['level']; message: string; fields?: Record<string, unknown> }, hook);
      return null;
    }
    this.rates.mustAdmit(KEY, method, limits);
    return (await perform(world, method, params, { timeoutMs, depth })) ?? null;
  }

  private say(
    { level, message, fields }: { level: NotedLine['level']; message: string; fields?: Record<string, unknown> },
    hook: string,
  ): void {
    const { logPerMinute } = this.parts.limits;
    if (this.lines.take(KEY, logPerMinute)) this.write(level, message, hook, fields);
    else if (this.lines.isFirstOver(KEY, logPerMinute)) this.write('warn', tooManyLines(logPerMinute), hook);
  }
}
