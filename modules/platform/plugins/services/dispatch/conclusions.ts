/** What attempts change in their installations: lines in the log, counts of calls, quarantine. */
import type { DeliveryResult } from '#core';
import { asOwner, noteCalls } from '../installations/health.ts';
import type { PluginHost } from '../running/host.ts';
import type { Details, Message } from './sender.ts';

type Result = DeliveryResult<Message, Details>;

/** Works in the organization of each installation, so it runs after the results are committed. */
export async function concludeResults(host: PluginHost, results: readonly Result[]): Promise<void> {
  const byInstallation = new Map<string, Result[]>();
  for (const result of results) {
    const { installationId, orgId, key } = result.message;
    byInstallation.set(installationId, [...(byInstallation.get(installationId) ?? []), result]);
    if (result.status !== 'failed') continue;
    host.logs.write({ installationId, orgId, level: 'error', message: `${key} was given up: ${result.outcome.error}` });
  }
  for (const [id, all] of byInstallation) {
    const { orgId = null, partnerId = null } = all[0]?.message ?? {};
    const calls = all.flatMap(({ outcome }) => outcome.details?.calls ?? []);
    await asOwner(host.services, { id, orgId, partnerId }, (ctx) => noteCalls(ctx, id, calls));
  }
}
