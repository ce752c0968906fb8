/** The host API: checks a plugin's call against its granted permissions and carries it out within its organization only. */
import { AppError, type Context, type Services, type StartServices } from '#core';
import { CallRates, denialLine, HostError, mustAllow, Rates } from '#plugin-sdk/host';
import type { Level } from '../../models/log-line.ts';
import { actorOf } from '../installations/health.ts';
import { type Facts, isOffFor, linePlace } from '../running/facts.ts';
import type { LogWriter } from '../running/log-writer.ts';
import type { Invocation } from '../running/process/invocation.ts';
import { deviceMethods } from './device-methods.ts';
import { fetchFor } from './http-method.ts';
import { kvMethods } from './kv-methods.ts';
import type { Method } from './method.ts';
import { tellMethods } from './tell-methods.ts';

/** Without methods whose module this server lacks: those answer NOT_AVAILABLE. */
const METHODS: Record<string, Method> = { ...kvMethods, ...deviceMethods, ...tellMethods };

/** People read them. */
const NOTICES_PER_MINUTE = 10;

interface HostDependencies {
  services: StartServices;
  http: Services['http'];
  logs: LogWriter;
}

export class HostApi {
  private readonly deps: HostDependencies;
  private readonly rates = new CallRates();
  private readonly notices = new Rates();

  constructor(deps: HostDependencies) {
    this.deps = deps;
  }

  /** Rejects with a HostError that the plugin may see; any other error is kept from it. */
  async call(facts: Facts, invocation: Invocation, name: string, params: unknown): Promise<unknown> {
    try {
      return await this.allowed(facts, invocation, name, params);
    } catch (error) {
      const told = asHostError(error);
      if (this.rates.isNews(facts.key)) {
        this.note(facts, invocation, 'warn', denialLine(name, told), { code: told.code });
      }
      if (told.code === 'INTERNAL') {
        this.deps.services.log.error({ err: error, plugin: facts.id }, 'a host call failed');
      }
      throw told;
    }
  }

  private async allowed(facts: Facts, invocation: Invocation, name: string, params: unknown): Promise<unknown> {
    const method = mustAllow(name, params, facts);
    if (name === 'log') {
      const { level, message, fields } = params as {
        level: Level;
        message: string;
        fields?: Record<string, unknown>;
      };
      const { hook, id: invocationId } = invocation;
      this.deps.logs.say(
        { ...linePlace(facts), level, message, fields, hook, invocationId },
        facts.limits.logPerMinute,
      );
      return null;
    }
    // What runs since before the switch does nothing more outside, but for the step that takes the plugin away.
    if (facts.status !== 'uninstalling' && isOffFor(this.deps.services.services, facts))
      throw new HostError('NOT_AVAILABLE', 'Plugins are switched off here');
    this.rates.mustAdmit(facts.key, name, facts.limits);
    if (name === 'http.fetch') return fetchFor(this.deps.http, params as never, invocation.timeoutMs);
    if (name === 'notifications.send' && !this.notices.take(facts.key, NOTICES_PER_MINUTE))
      throw new HostError('RATE_LIMITED', `More than ${NOTICES_PER_MINUTE} notices within a minute`);
    const run = METHODS[name];
    if (!run) throw new HostError('NOT_AVAILABLE', `This server has nothing behind ${name}`);
    const { orgId } = facts;
    if (!orgId)
      throw new HostError('NOT_AVAILABLE', `${name} acts in one organization, and this is a step for all of them`);
    const act = async (ctx: Context) => {
      if (method.writes) {
        const { id: resourceId, slug } = facts;
        const details = { method: name, invocationId: invocation.id, hook: invocation.hook };
        ctx.audit('plugin.call', { orgId, resourceType: 'plugin', resourceId, resourceName: slug, details });
      }
      return { value: await run(ctx, params, { facts: { ...facts, orgId }, invocation }) };
    };
    const { causation } = invocation;
    const result = await this.deps.services.asOrganization(orgId, actorOf(facts.id), act, causation);
    if (!result) throw new HostError('NOT_AVAILABLE', 'The organization is not active');
    return result.value;
  }

  private note(
    facts: Facts,
    { hook, id }: Invocation,
    level: Level,
    message: string,
    fields: Record<string, unknown>,
  ): void {
    this.deps.logs.write({ ...linePlace(facts), level, message, fields, hook, invocationId: id });
  }
}

function asHostError(error: unknown): HostError {
  if (error instanceof HostError) return error;
  if (!(error instanceof AppError)) return new HostError('INTERNAL', 'The host could not do this');
  const details = (error.details as { message?: string }[]).map(({ message }) => message).filter(Boolean);
  const message = [error.message, ...details].join('; ').slice(0, 1_000);
  if (error.status === 404) return new HostError('NOT_FOUND', message);
  return new HostError(error.status === 409 ? 'CONFLICT' : 'INVALID_PARAMS', message);
}
