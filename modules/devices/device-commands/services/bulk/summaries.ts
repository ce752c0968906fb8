/** What a second person sees of a bulk command before it is sent. */
import { type AddParameter, type Context, reach } from '#core';
import type { KeptBulk } from './approvals.ts';

/** Host names that are shown; the others are counted. */
const MAX_NAMES = 20;
/** Characters of a row. */
const MAX_VALUE = 2000;

interface Shown {
  hostname: string;
  site: string;
}

export async function summarizeBulk(ctx: Context, { type, payload, whenOffline, deviceIds }: KeptBulk) {
  const values: unknown[] = [deviceIds];
  const add: AddParameter = (value, kind) => `$${values.push(value)}::${kind}`;
  const { rows } = await ctx.sql<Shown>(
    `select d.hostname, s.name as site from devices d join sites s on s.id = d.site_id
     where d.id = any($1::uuid[]) and ${reach(ctx, 'd', add)} order by d.hostname, d.id`,
    values,
  );
  const names = rows.slice(0, MAX_NAMES).map(({ hostname }) => hostname);
  const more = deviceIds.length - names.length;
  const sites = [...new Set(rows.map(({ site }) => site))].sort().join(', ');
  const details = [
    ['Command', type],
    ...Object.entries(payload).map(([name, value]) => [name, String(value)]),
    ['Devices', `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`],
    ['Sites', sites],
    ['Devices that are offline', whenOffline === 'fail' ? 'are left out' : 'get it when they are back'],
  ];
  return {
    title: `${type} for ${deviceIds.length} devices`,
    details: details.map(([label = '', value = '']) => ({ label, value: value.slice(0, MAX_VALUE) })),
  };
}
