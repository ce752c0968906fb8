/** A server in memory with one plugin installed: what tests of a plugin drive. */
import { randomUUID } from 'node:crypto';
import {
  afterFailure,
  type Entry,
  HostError,
  inputOf,
  limits as LIMITS,
  listensTo,
  type Manifest,
  type ProviderKind,
  type Step,
  stepsOf,
} from '@quartermaster/plugin-sdk/host';
import semver from 'semver';
import { undeclared, unused } from './capability-use.ts';
import { HandlerError, type HarnessOptions } from './harness-types.ts';
import { checkedConfig, openHost } from './opening.ts';
import { mustFitForm, providerOf, resultFault, targetOf, writeCollected } from './operations.ts';
import type { PluginHost } from './plugin-host.ts';
import { across } from './wire.ts';

export interface EventGiven {
  /** Such as `device.online`. */
  type: string;
  data?: Record<string, unknown>;
  id?: string;
  occurredAt?: string;
  siteId?: string | null;
  deviceId?: string | null;
  /** How many plugins lie between it and what people or devices did. */
  depth?: number;
}
export interface DeliveryOptions {
  /** How often it is delivered: twice when absent, since it may be on a server. */
  times?: number;
  /** Tries again after failures as the server does, by the clock; what is given up is thrown. */
  retry?: boolean;
}
interface Delivery extends Entry {
  key: string;
  depth: number;
}

export class Harness {
  /** Whether it is enabled; a harness begins with an enabled plugin, without having called `onEnable`. */
  enabled = true;
  private readonly host: PluginHost;

  constructor(options: HarnessOptions) {
    this.host = openHost(options);
  }

  get manifest(): Manifest {
    return this.host.parts.manifest;
  }
  get org() {
    return this.host.parts.org;
  }
  /** Calls of the host API, in order; log lines are in `logs`. */
  get calls() {
    return this.host.calls;
  }
  get logs() {
    return this.host.logs;
  }
  get kv() {
    return this.host.parts.world.kv;
  }
  get http() {
    return this.host.parts.world.http;
  }
  get devices() {
    return this.host.parts.world.devices.all;
  }
  get alerts() {
    return this.host.parts.world.alerts?.all ?? [];
  }
  get tickets() {
    return this.host.parts.world.tickets?.all ?? [];
  }
  get notifications() {
    return this.host.parts.world.notifications ?? [];
  }
  /** Events that the plugin told. */
  get emitted() {
    return this.host.parts.world.emitted;
  }
  /** What the plugin has put off, the next first. */
  get planned() {
    return [...this.host.parts.world.planned.values()].sort((a, b) => (a.at < b.at ? -1 : 1));
  }
  get now(): Date {
    return new Date(this.host.parts.world.clock.now());
  }

  /** Delivers an event, twice. Resolves with the handlers that heard it; rejects with a HandlerError where one fails. */
  async emit({ type, data = {}, depth = 0, ...given }: EventGiven, options: DeliveryOptions = {}): Promise<string[]> {
    const { parts } = this.host;
    if (!this.enabled || !listensTo(parts.manifest, [...parts.granted]).includes(type)) return [];
    const occurredAt = this.now.toISOString();
    const body = {
      id: randomUUID(),
      occurredAt,
      siteId: null,
      deviceId: null,
      ...given,
      type,
      data,
      orgId: parts.org.id,
    };
    const delivery: Delivery = { kind: 'event', body: across(body), key: `event:${body.id}`, depth };
    const steps = stepsOf(parts.manifest, delivery);
    for (let n = 0; n < (options.times ?? 2) && steps.length > 0; n += 1) await this.deliver(delivery, options.retry);
    return steps.map(({ handler }) => handler);
  }

  /** Runs a schedule or a collector once: what collectors find is written into the devices' custom fields. */
  async run(name: string, { times = 1, retry = false }: DeliveryOptions = {}): Promise<void> {
    const { schedules = [], providers = [] } = this.manifest;
    const isSchedule = schedules.some((one) => one.name === name);
    if (!isSchedule && !providers.some(({ kind, key }) => kind === 'collector' && key === name))
      throw new Error(`The manifest has no schedule and no collector ${name}`);
    const kind = isSchedule ? 'schedule' : 'collector';
    const at = this.now.toISOString();
    const delivery: Delivery = { kind, body: { name, at, data: {} }, key: `${kind}:${name}:${at}`, depth: 0 };
    for (let n = 0; n < times; n += 1) await this.deliver(delivery, retry);
  }

  /** Calls an action as a person does. `targetId`: of a device or an alert. Resolves with what the plugin answers. */
  async invoke(
    name: string,
    { targetId, input = {}, userId = null }: { targetId?: string; input?: object; userId?: string | null } = {},
  ): Promise<unknown> {
    this.mustBeEnabled();
    const action = this.manifest.actions?.find((one) => one.name === name);
    if (!action) throw new Error(`The manifest has no action ${name}`);
    mustFitForm(action.inputSchema, input);
    const target = targetOf(this.host.parts, action.target, targetId);
    const call = { action: name, target, input, userId };
    return this.host.run({ handler: action.handler ?? name, hook: `action ${name}`, args: [call] });
  }

  /** Calls an operation of a provider. The answer is held to the schema of its kind. */
  async provider(kind: ProviderKind, key: string, operation: string, input: object = {}): Promise<unknown> {
    this.mustBeEnabled();
    const { handler, form } = providerOf(this.manifest, kind, key, operation);
    if (form && kind === 'aiTool') mustFitForm(form, input);
    if (form && kind === 'reportType') mustFitForm(form, (input as { input?: object }).input ?? {});
    const result = await this.host.run({ handler, hook: `${kind} ${key}`, args: [input] });
    const fault = resultFault(kind, operation, result);
    if (fault) throw new HandlerError('PERMANENT', fault, null);
    return result;
  }

  install = (): Promise<unknown> => this.step('onInstall');

  /** With the configuration complete, as on a server. */
  async enable(): Promise<void> {
    if (this.enabled) throw new Error('It is enabled already: await harness.disable()');
    await this.step('onEnable');
    this.enabled = true;
  }
  async disable(): Promise<void> {
    this.mustBeEnabled();
    this.enabled = false;
    this.host.parts.world.planned.clear();
    // Not heard: what it does now is the last.
    await this.host.try(lifecycle('onDisable'));
  }
  /** Migrates a configuration of an older version, then calls `onUpgrade`. Resolves with the configuration. */
  async upgrade(from: string, config: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    const { manifest } = this;
    let migrated: unknown = config;
    for (const { from: range, handler } of manifest.migrations ?? []) {
      if (semver.satisfies(from, range))
        migrated = await this.host.run({ handler, hook: `migration ${range}`, args: [migrated] });
    }
    const { config: checked } = checkedConfig(manifest, migrated as Record<string, unknown>);
    await this.host.run(lifecycle('onUpgrade', [{ from, to: manifest.version }]));
    return checked;
  }
  uninstall = (): Promise<unknown> => this.step('onUninstall');

  /** Lets time go by; what the plugin has put off until then runs, each at its time. */
  async advance(ms: number): Promise<void> {
    const { clock, planned } = this.host.parts.world;
    const end = clock.now() + ms;
    for (;;) {
      const [next] = [...planned].sort(([, a], [, b]) => (a.at < b.at ? -1 : 1));
      if (!next || Date.parse(next[1].at) > end) break;
      const [key, { depth, ...body }] = next;
      planned.delete(key);
      clock.moveTo(Date.parse(body.at));
      await this.deliver({ kind: 'once', body, key, depth });
    }
    clock.moveTo(end);
  }

  /** Throws with all that the plugin tried without having declared it. Returns what it declares and has not used here. */
  assertNoUndeclaredCapabilities(): string[] {
    const faults = undeclared(this.host);
    if (faults.length > 0)
      throw new Error(`The manifest does not declare:\n${faults.map((one) => `  ${one}`).join('\n')}`);
    return unused(this.host);
  }

  private async deliver(delivery: Delivery, retry = false): Promise<void> {
    for (let attempts = 0; ; attempts += 1) {
      const failed = await this.attempt(delivery);
      if (!failed) return;
      const { status, seconds } = afterFailure(failed, attempts);
      if (!retry || status === 'dropped') throw failed;
      if (status === 'released') attempts -= 1;
      this.host.parts.world.clock.moveTo(this.now.getTime() + seconds * 1_000);
    }
  }

  private async attempt(delivery: Delivery): Promise<HandlerError | null> {
    for (const step of stepsOf(this.manifest, delivery)) {
      const { handler, hook, timeoutMs } = step;
      const args = [inputOf(delivery, step, delivery.key)];
      const outcome = await this.host.try({ handler, hook, args, timeoutMs, depth: delivery.depth });
      if (!outcome.ok) return new HandlerError(outcome.code, outcome.message, outcome.afterMs);
      const fault = step.collector ? this.collected(step, outcome.result) : null;
      if (fault) return new HandlerError('PERMANENT', fault, null);
    }
    return null;
  }

  private collected({ hook, collector }: Step, result: unknown): string | null {
    const fault = resultFault('collector', 'collect', result);
    if (fault) return fault;
    if (!this.host.parts.granted.has('customFields:write')) return 'customFields:write was not granted';
    const refused = writeCollected(this.host.parts.world.devices, collector?.fields ?? [], result);
    for (const message of refused) this.host.write('warn', message, hook);
    return null;
  }

  private step(handler: string): Promise<unknown> {
    return this.host.run(lifecycle(handler));
  }

  private mustBeEnabled(): void {
    if (!this.enabled) throw new HostError('NOT_AVAILABLE', 'The plugin is not enabled');
  }
}

const lifecycle = (handler: string, args: unknown[] = []) => ({
  ...{ kind: 'lifecycle' as const, handler, hook: handler, args, timeoutMs: LIFECYCLE_TIMES[handler] },
});
const LIFECYCLE_TIMES: Readonly<Record<string, number>> = LIMITS.LIFECYCLE_MS;

/** Throws where the manifest, the plugin or the configuration would be refused by a server. */
export const createHarness = (options: HarnessOptions): Harness => new Harness(options);
