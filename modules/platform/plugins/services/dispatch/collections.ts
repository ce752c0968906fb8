/** Writes the results of a collector into the custom fields that its manifest names. */
import type { Collected } from '#plugin-sdk';
import { declaredFields } from '#plugin-sdk/host';
import { actorOf } from '../installations/health.ts';
import type { PluginHost } from '../running/host.ts';

interface Collector {
  installationId: string;
  orgId: string;
  hook: string;
  /** The fields that it declared; others are rejected. */
  fields: string[];
}

/** Writes the valid values, and logs the others in the plugin's log. Null, or why nothing was written. */
export async function writeCollected(
  host: PluginHost,
  collector: Collector,
  { values }: Collected,
): Promise<string | null> {
  const { installationId, orgId, hook, fields } = collector;
  if (!(await host.isGranted(collector, 'customFields:write'))) return 'customFields:write was not granted';
  const note = (message: string) => host.logs.write({ installationId, orgId, level: 'warn', message, hook });
  for (const { deviceId, fields: found } of values) {
    const { declared, others } = declaredFields(found, fields);
    if (others.length > 0) note(`Fields that its manifest does not name were left out: ${others.join(', ')}`);
    const refused = await host.services
      .asOrganization(orgId, actorOf(installationId), async (ctx) => {
        const { updated, failed } = await ctx.use('devices').writeAgentValues(deviceId, declared);
        if (updated.length > 0) {
          const details = { method: 'customFields.set', hook, deviceId, fields: updated };
          ctx.audit('plugin.call', { orgId, resourceType: 'plugin', resourceId: installationId, details });
        }
        return failed.map(({ message }) => message);
      })
      .catch((error: Error) => [error.message]);
    for (const message of refused ?? []) note(`${deviceId}: ${message}`);
  }
  return null;
}
