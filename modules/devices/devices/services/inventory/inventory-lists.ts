/** Software and services of one device, by name. */
import { type Context, type PageQuery, page, type SortKey } from '#core';
import { Service, Software } from '../../models/inventory.ts';
import { mustExist } from '../devices.ts';

const byName = (table: string) => ({
  name: `${table}-by-name`,
  keys: [
    { expression: `lower(${table}.name)`, direction: 'asc', type: 'text' },
    { expression: `${table}.id`, direction: 'asc', type: 'uuid' },
  ] satisfies SortKey[],
});
const columns = (table: string, names: string[]) => names.map((name) => `${table}.${name}`);

export async function listSoftware(ctx: Context, deviceId: string, query: PageQuery) {
  await mustExist(ctx, deviceId);
  const shown = ['id', 'name', 'version', 'vendor', 'installDate', 'installLocation', 'firstSeenAt'];
  const rows = Software.in(ctx).select(columns('device_software', shown)).where({ deviceId });
  return page(rows, query, byName('device_software'));
}

export async function listServices(ctx: Context, deviceId: string, query: PageQuery) {
  await mustExist(ctx, deviceId);
  const shown = ['id', 'name', 'displayName', 'state', 'startType'];
  const rows = Service.in(ctx).select(columns('device_services', shown)).where({ deviceId });
  return page(rows, query, byName('device_services'));
}
