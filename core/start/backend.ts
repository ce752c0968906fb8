/** Connects the unit of work to the rooms that it uses: audit, jobs, modules, settings, broadcasts. */
import { type AuditRow, auditRow } from '../audit/record.ts';
import type { Context, Services } from '../context/index.ts';
import type { JobRegistry } from '../jobs/registry.ts';
import { bindApi } from '../modules/bound-api.ts';
import type { Contributions } from '../modules/contributions.ts';
import { readSettings } from '../settings/read.ts';
import type { UnitOfWorkBackend } from '../work/index.ts';
import type { StartedDatabase } from './database.ts';
import type { StartedLive } from './live.ts';

export interface BackendParts extends StartedDatabase, Pick<StartedLive, 'notices' | 'hints'> {
  registry: JobRegistry;
  contributions: Contributions;
  services: Services;
}

export function createBackend(parts: BackendParts): UnitOfWorkBackend {
  const { database, batches, attempts, notices, hints, registry, contributions, services } = parts;
  const modules = new Map(parts.modules.map((loaded) => [loaded.module.name, loaded.module]));
  return {
    database,
    batches,
    services,
    auditRow: ({ actor, scope }, action, entry) => auditRow(actor, scope, action, entry),
    auditAttempt: ({ actor, scope }, action, entry) =>
      attempts.add(auditRow(actor, scope, action, entry) satisfies AuditRow),
    jobRow: ({ scope, requestId, causation }, name, payload, options) =>
      registry.jobRow(name, payload, { orgId: scope.orgId, requestId, causation }, options),
    subscriberJobs: ({ requestId }, event) => registry.subscriberJobs(event, requestId),
    api(name: string, ctx: Context) {
      const module = modules.get(name);
      if (!module?.api) throw new Error(`the module ${name} does not exist or has no api`);
      return bindApi(module.api, ctx);
    },
    ...contributions,
    async settings(ctx, name, orgId) {
      const schema = modules.get(name)?.settings;
      if (!schema) throw new Error(`the module ${name} has no settings`);
      return readSettings(ctx, name, schema, orgId);
    },
    deliverNotice: (channel, payload) => notices.deliver(channel, payload),
    hint: (channel, payload) => hints.tell(channel, payload),
  };
}
