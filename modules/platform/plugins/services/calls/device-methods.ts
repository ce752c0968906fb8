/** Devices, tags and custom fields of the plugin's organization, through the apis of their modules. */

import type { Context } from '#core';
import type { DeviceInfo } from '#plugin-sdk';
import { HostError } from '#plugin-sdk/host';
import type { Method } from './method.ts';

/** Of a row as lists of devices have it. */
const shown = ({ id, siteId, hostname, displayName, osType, osVersion, tags, ...more }: DeviceDetails): DeviceInfo => ({
  ...{ id, siteId, hostname, displayName: displayName ?? null, osType, osVersion: osVersion ?? null, tags: tags ?? [] },
  ...{ manufacturer: more.hardware?.manufacturer ?? null, model: more.hardware?.model ?? null },
  ...{ serialNumber: more.hardware?.serialNumber ?? null },
  ...{ enrolledAt: more.enrolledAt ?? null, lastSeenAt: more.lastSeenAt ?? null },
});
type DeviceDetails = DeviceInfo & { hardware: Pick<DeviceInfo, 'manufacturer' | 'model' | 'serialNumber'> | null };

async function readDevice(ctx: Context, id: string): Promise<DeviceInfo> {
  const page = await ctx.use('devices').listPage({ limit: 1, cursor: '' }, (first) => ({
    ...{ where: `d.id = $${first}::uuid`, params: [id], joins: [], removed: true, limited: (run) => run() },
  }));
  const [row] = page.data;
  if (!row) throw new HostError('NOT_FOUND', 'Device not found');
  return shown(row as never);
}

export const deviceMethods: Record<string, Method> = {
  'devices.list': async (
    ctx,
    { search, tag, limit = 50, cursor }: { search?: string; tag?: string; limit?: number; cursor?: string },
  ) => {
    const devices = ctx.use('devices');
    const query = { limit, cursor: cursor ?? '', ...(search ? { search } : {}) };
    const key = tag ? devices.tagKey(tag) : null;
    const page = await devices.listPage(query, (first) => ({
      ...(key ? { where: `d.tags @> array[$${first}::text]`, params: [key] } : { where: 'true', params: [] }),
      joins: [],
      removed: false,
      limited: (run) => run(),
    }));
    const next = 'cursor' in page.pagination ? page.pagination.cursor : null;
    return { data: page.data.map((row) => shown(row as never)), cursor: next };
  },
  'devices.get': (ctx, { id }: { id: string }) => readDevice(ctx, id),
  'devices.tag': async (
    ctx,
    { ids, add = [], remove = [] }: { ids: string[]; add?: string[]; remove?: string[] },
    asked,
  ) => {
    const devices = ctx.use('devices');
    const change = {
      add: devices.checkedTags(add, 'add'),
      remove: remove.map((tag) => devices.tagKey(tag)),
      source: `plugin:${asked.facts.slug}`,
    };
    const { changed, failed } = await devices.changeTags(ids, change);
    const missing = failed.find(({ code }) => code === 'NOT_FOUND');
    if (missing) throw new HostError('NOT_FOUND', `There is no device ${missing.deviceId}`);
    const [other] = failed;
    if (other) throw new HostError('INVALID_PARAMS', `${other.deviceId}: ${other.code}`);
    return { changed };
  },
  'customFields.list': async (ctx, _params, { facts }) => {
    const fields = await ctx.use('custom-fields').fields(facts.orgId);
    return fields.map(({ fieldKey, name, type }) => ({ key: fieldKey, name, type }));
  },
  'customFields.get': async (ctx, { deviceId }: { deviceId: string }) =>
    ctx.use('custom-fields').read(await ctx.use('devices').mustExist(deviceId)),
  'customFields.set': async (ctx, { deviceId, values }: { deviceId: string; values: Record<string, unknown> }) => {
    const { failed } = await ctx.use('devices').writeAgentValues(deviceId, values);
    const [first] = failed;
    if (first) throw new HostError('INVALID_PARAMS', first.message ?? `${first.key}: ${first.code}`);
    return null;
  },
};
