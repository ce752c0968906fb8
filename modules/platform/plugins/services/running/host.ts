/** The host of this process: starts plugins when they are needed, calls them, and ends them when they are idle or misbehave. */
import { randomUUID } from 'node:crypto';
import { availableParallelism, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { actedBy, beginCausation, type Context, defineService, type Services, type StartServices } from '#core';
import { Rates, type StartedPlugin } from '#plugin-sdk/host';
import { type PluginSettings, variables } from '../../variables.ts';
import { HostApi } from '../calls/host-api.ts';
import { noteEnd } from '../installations/health.ts';
import { Broker, type PluginEvents } from './broker/broker.ts';
import { type Call, failed } from './call.ts';
import { Deaths } from './deaths.ts';
import { CHANGED, type Facts, isOffFor, isOn, keyOf, linePlace, RENEWED, readFacts, type Workplace } from './facts.ts';
import { LogWriter } from './log-writer.ts';
import type { Outcome, RunningPlugin } from './process/invocation.ts';
import { missingFor, missingWall, NO_WALL } from './runners/missing-walls.ts';
import { type Slot, Slots, type Use } from './slots.ts';
import { Staging } from './staging.ts';

const FACTS_MS = 30_000;
const MOST_FACTS = 10_000;
const LOOK_MS = 1_000;
/** Of the machine's processors and memory, what plugins may take all together. */
const PROCESSORS = 0.5;
const MEMORY = 0.5;
/** After so long a call is tried again that came while plugins were switched off. */
const OFF_MS = 60_000;
/** After so long it is tried again when the broker was not there. */
const BROKER_MS = 2_000;

/** The settings that need a new process when they change; other limits apply from the next call on. */
const madeOf = ({ packageSha256, limits: { memoryMb, cpuMsPerCall } }: Facts): string =>
  [packageSha256, memoryMb, cpuMsPerCall].join('/');

const mayRun = ({ enabled, status }: Facts, { always }: Call): boolean =>
  always === true || (enabled && status === 'installed');

export class PluginHost {
  readonly logs: LogWriter;
  readonly services: StartServices;
  readonly deaths = new Deaths();
  private readonly settings: PluginSettings;
  private readonly api: HostApi;
  private readonly staging: Staging;
  private readonly rates = new Rates();
  private readonly slots: Slots;
  private readonly facts = new Map<string, { at: number; installationId: string; facts: Promise<Facts | null> }>();
  private readonly ending = new Set<Promise<unknown>>();
  private broker: Broker | null = null;
  private readonly timer: NodeJS.Timeout;

  constructor(services: StartServices) {
    const { config, http } = services.services;
    this.services = services;
    this.settings = variables.of(config);
    const { broker } = this.settings;
    this.staging = new Staging(broker ? dirname(broker) : undefined);
    this.slots = new Slots({ ...this.settings, memoryMb: this.settings.memoryMb || (totalmem() / 1_048_576) * MEMORY });
    this.logs = new LogWriter(services);
    this.api = new HostApi({ services, http, logs: this.logs });
    services.onNotice(CHANGED, (id) => void this.changed(id));
    services.onNotice(RENEWED, (id) => this.deaths.forget(id));
    services.onNoticesLost(() => this.facts.clear());
    this.timer = setInterval(() => this.slots.endIdle(), LOOK_MS).unref();
  }

  /** The number of processes here; for health, and for tests of idleness. */
  processesOf(installationId?: string): number {
    return this.slots.count(installationId);
  }

  /** What isolates plugins here, and why none runs, if so. */
  async walls() {
    const ready = await this.getBroker()
      .isReady()
      .catch((error: Error) => error);
    if (ready instanceof Error) return { runner: 'none', ...NO_WALL, unavailable: ready.message };
    const { name, walls } = ready;
    return { runner: name, ...walls, unavailable: missingWall(walls, this.settings) };
  }

  /** Never rejects because of the plugin. */
  async call(place: Workplace, call: Call): Promise<Outcome> {
    const facts = await this.factsFor(place, call).catch((error: Error) => error);
    if (facts instanceof Error) return failed('PERMANENT', facts.message);
    if (!facts) return failed('PERMANENT', 'It is not installed any more');
    if (!mayRun(facts, call)) return failed('PERMANENT', 'It is not enabled');
    if (!call.always && isOffFor(this.services.services, facts))
      return failed('BUSY', 'Plugins are switched off here', OFF_MS);
    const { callsPerMinute } = facts.limits;
    if (!this.rates.take(facts.key, callsPerMinute)) {
      const message = `More than ${callsPerMinute} calls within a minute`;
      return failed('BUSY', message, this.rates.millisecondsLeft());
    }
    const outcome = await this.callIn(facts, call);
    const { hook } = call;
    if (!outcome.ok && outcome.code !== 'BUSY') {
      const message = `${hook} failed: ${outcome.message}`;
      this.logs.write({ ...linePlace(facts), level: 'error', message, hook, durationMs: outcome.ms });
    }
    return outcome;
  }

  /** Cached facts may be older than a notice that has not arrived, so a call that they forbid reads them again. */
  private async factsFor(place: Workplace, call: Call): Promise<Facts | null> {
    const facts = await this.factsOf(place);
    if (facts && mayRun(facts, call)) return facts;
    this.facts.delete(keyOf(place));
    return this.factsOf(place);
  }

  private async callIn(facts: Facts, call: Call): Promise<Outcome> {
    const use = await this.useOf(facts, call.always ?? false).catch((error: Error) => error);
    if (use instanceof Error) return failed('PERMANENT', use.message);
    if ('ok' in use) return use;
    const outcome = await this.callOn(use.slot, facts, call).finally(use.free);
    // Log lines about the end of the process come before those about the call.
    if (!outcome.ok && outcome.code === 'CRASHED') await use.slot.noted;
    return outcome;
  }

  private async callOn(
    { process, started }: Slot,
    facts: Facts,
    { kind, handler, hook, args, timeoutMs, causation = beginCausation() }: Call,
  ): Promise<Outcome> {
    try {
      await started;
    } catch (error) {
      const reason = `It could not be started: ${(error as Error).message}`;
      process.die({ kind: 'crashed', reason });
      return failed('CRASHED', reason);
    }
    return process.invoke({
      ...{ id: randomUUID(), kind, handler, hook, args, config: facts.shownConfig, org: facts.org },
      causation: actedBy(causation, `plugins:${facts.id}`),
      timeoutMs: Math.min(timeoutMs ?? facts.limits.wallMsPerCall, facts.limits.wallMsPerCall),
    });
  }

  /** Before a call by which a person starts it anew. Other processes learn of it by the notice, with the commit. */
  renew(ctx: Context, installationId: string): void {
    this.deaths.forget(installationId);
    ctx.notify(RENEWED, installationId);
  }

  /** Null where it is gone. */
  async manifestOf(place: Workplace) {
    return (await this.factsOf(place))?.manifest ?? null;
  }

  async isGranted(place: Workplace, capability: string): Promise<boolean> {
    return (await this.factsOf(place))?.granted.has(capability) ?? false;
  }

  /** The handlers that the plugin reports, from a process of its own that ends when it is idle. */
  async inspect(place: Workplace): Promise<StartedPlugin> {
    const facts = await this.factsOf(place);
    if (!facts) throw new Error('It is not installed any more');
    const use = await this.useOf(facts, true);
    if ('ok' in use) throw new Error(use.ok ? '' : use.message);
    return use.slot.started.finally(use.free);
  }

  private async useOf(facts: Facts, step: boolean): Promise<Use | Outcome> {
    const known = this.slots.use(facts.key, madeOf(facts), step);
    if (known) return known;
    const wait = this.deaths.wait(facts.key);
    if (wait > 0) return failed('BUSY', 'It has just crashed and is not started again yet', wait);
    const broker = this.getBroker();
    const ready = await broker.isReady().catch((error: Error) => error);
    if (ready instanceof Error) return failed('BUSY', ready.message, BROKER_MS);
    const unavailable = missingFor(facts.manifest, ready.walls, this.settings);
    if (unavailable) return failed('PERMANENT', unavailable);
    const runtime = await this.staging.runtimeFor(facts.manifest.engine.runtime ?? 'interpreter');
    const folder = await this.staging.packageFolder(facts.packageSha256, () => this.readPackage(facts.packageSha256));
    // Another call may have started it meanwhile.
    const other = this.slots.use(facts.key, madeOf(facts), step);
    if (other) return other;
    const { key, partner, limits, manifest } = facts;
    if (!this.slots.makeRoom(partner, limits.memoryMb))
      return failed('BUSY', 'All places for plugins are taken', LOOK_MS);
    const process = broker.start({ key, partner, folder, main: manifest.main, runtime, limits }, this.eventsOf(facts));
    const started = process.start();
    started.catch(() => undefined);
    const noted = process.ended.then((how) => this.wasEnded(facts, process, how));
    this.ending.add(noted);
    void noted.finally(() => this.ending.delete(noted));
    const { id: installationId } = facts;
    const { memoryMb } = limits;
    return this.slots.add(
      { key, installationId, partner, memoryMb, process, made: madeOf(facts), started, noted },
      step,
    );
  }

  /** What its process asks and says. */
  private eventsOf(facts: Facts): PluginEvents {
    return {
      call: async (invocation, method, params) => {
        const now = await this.factsOf({ installationId: facts.id, orgId: facts.orgId });
        if (!now) throw new Error('It is gone');
        return this.api.call(now, invocation, method, params);
      },
      note: (message, invocation) =>
        this.logs.write({
          ...{ ...linePlace(facts), level: 'warn', message },
          ...{ hook: invocation?.hook ?? null, invocationId: invocation?.id ?? null },
        }),
    };
  }

  private async wasEnded(facts: Facts, process: RunningPlugin, end: Awaited<RunningPlugin['ended']>): Promise<void> {
    this.slots.end(facts.key, process);
    if (end.kind === 'stopped') return;
    this.deaths.note(facts.key);
    this.logs.write({
      ...linePlace(facts),
      level: 'error',
      message: `Its process was ended: ${end.reason}`,
      fields: { kind: end.kind },
    });
    await noteEnd(this.services, facts, end).catch(() => undefined);
  }

  private factsOf(place: Workplace): Promise<Facts | null> {
    const key = keyOf(place);
    const known = this.facts.get(key);
    if (known && Date.now() - known.at < FACTS_MS) return known.facts;
    if (this.facts.size >= MOST_FACTS) this.facts.clear();
    const facts = this.services.asPlatform((ctx) => readFacts(ctx, place));
    this.facts.set(key, { at: Date.now(), installationId: place.installationId, facts });
    facts.catch(() => this.facts.delete(key));
    return facts;
  }

  /** After a change: new grants apply from the next call on; the process of a replaced package ends. */
  private async changed(id: string): Promise<void> {
    for (const [key, { installationId }] of this.facts) if (installationId === id) this.facts.delete(key);
    if (this.slots.count(id) === 0) return;
    const on = await this.services.asPlatform((ctx) => isOn(ctx, id)).catch(() => false);
    if (on) this.slots.switchOn(id);
    else this.slots.switchOff(id);
  }

  private async readPackage(sha256: string): Promise<Buffer> {
    const [row] = await this.services.asPlatform(
      async (ctx: Context) =>
        (await ctx.sql<{ content: Buffer }>('select content from plugin_packages where sha256 = $1', [sha256])).rows,
    );
    if (!row) throw new Error('its package is not there');
    return row.content;
  }

  private getBroker(): Broker {
    this.broker ??= new Broker(
      {
        place: this.staging.folder,
        partnerShare: this.settings.partnerShare,
        processors: availableParallelism() * PROCESSORS,
      },
      (message) => this.services.log.error({ output: message }, 'the broker of plugins wrote to its error output'),
      this.settings.broker,
    );
    return this.broker;
  }

  /** Ends all processes, and writes what is still to be written. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.slots.endAll();
    this.broker?.stop();
    await Promise.all(this.ending);
    await this.logs.flush();
    this.staging.remove();
  }
}

export const HOST = defineService<PluginHost>('plugins.host');

export const hostOf = (services: Pick<Services, 'get'>): PluginHost => services.get(HOST);
