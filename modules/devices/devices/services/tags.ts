/** Adds, removes and renames tags of many devices. */
import { type Context, reach } from '#core';
import deviceUpdated from '../events/updated.ts';
import { MAX_TAGS } from '../models/tag.ts';

export interface TagChange {
  /** In their stored form. */
  add: readonly string[];
  remove: readonly string[];
  /** The feature that changed them, for the audit trail, such as `tags.bulk`. */
  source: string;
}

export interface TagOutcome {
  changed: number;
  unchanged: number;
  failed: { deviceId: string; code: 'NOT_FOUND' | 'DECOMMISSIONED' | 'TAG_LIMIT' }[];
}

interface TaggedDevice {
  id: string;
  orgId: string;
  siteId: string;
  hostname: string;
  decommissioned: boolean;
  tags: string[];
}

/** Locks in the order of the ids, so that concurrent changes do not deadlock. */
async function lockVisible(ctx: Context, ids: readonly string[]): Promise<TaggedDevice[]> {
  const values: unknown[] = [ids];
  const seen = reach(ctx, 'd', (value, type) => `$${values.push(value)}::${type}`);
  const { rows } = await ctx.sql<TaggedDevice>(
    `select d.id, d.org_id as "orgId", d.site_id as "siteId", d.hostname, d.tags,
       d.lifecycle = 'decommissioned' as decommissioned
     from devices d where d.id = any($1::uuid[]) and ${seen} order by d.id for no key update of d`,
    values,
  );
  return rows;
}

/**
 * Adds and removes tags of devices that the caller can see; others fail as NOT_FOUND. Writes one audit entry `device.update`
 * {changedFields, before, after, source} and emits one event for each device that changed.
 */
export async function changeTags(
  ctx: Context,
  deviceIds: readonly string[],
  { add, remove, source }: TagChange,
): Promise<TagOutcome> {
  const rows = new Map((await lockVisible(ctx, deviceIds)).map((row) => [row.id, row]));
  const outcome: TagOutcome = { changed: 0, unchanged: 0, failed: [] };
  const written: (TaggedDevice & { after: string[] })[] = [];
  for (const deviceId of new Set(deviceIds)) {
    const row = rows.get(deviceId);
    const after = [...new Set([...(row?.tags ?? []), ...add])].filter((tag) => !remove.includes(tag)).sort();
    if (!row) outcome.failed.push({ deviceId, code: 'NOT_FOUND' });
    else if (row.decommissioned) outcome.failed.push({ deviceId, code: 'DECOMMISSIONED' });
    else if (after.length > MAX_TAGS) outcome.failed.push({ deviceId, code: 'TAG_LIMIT' });
    else if (after.length === row.tags.length && after.every((tag) => row.tags.includes(tag))) outcome.unchanged += 1;
    else written.push({ ...row, after });
  }
  outcome.changed = written.length;
  if (written.length === 0) return outcome;
  // reach: lockVisible() has chosen the devices with reach()
  await ctx.sql(
    `update devices d set tags = n.tags, updated_at = now()
     from json_to_recordset($1::json) n (id uuid, tags text[]) where d.id = n.id`,
    [JSON.stringify(written.map(({ id, after }) => ({ id, tags: after })))],
  );
  const changedFields = ['tags'];
  for (const { id, orgId, siteId, hostname, tags, after } of written) {
    ctx.audit('device.update', {
      orgId,
      resourceType: 'device',
      resourceId: id,
      resourceName: hostname,
      details: { changedFields, before: { tags }, after: { tags: after }, source },
    });
    ctx.emit(deviceUpdated, { changedFields }, { orgId, siteId, deviceId: id });
  }
  return outcome;
}

// reach: job of the whole organization; requestRename has checked that the caller reaches every device with the tag
const RENAME = `
with due as (
  select id from devices where org_id = $1 and tags @> array[$2::text] and id > $4 order by id limit 500 for no key update)
update devices d set updated_at = now(),
  tags = array(select distinct t from unnest(array_replace(d.tags, $2::text, $3::text)) t order by t)
from due where d.id = due.id returning d.id`;

/**
 * Renames a tag on every device of an organization, visible or not; both in stored form. A device that has both keeps one.
 * Repeats change nothing. Writes no audit entries or events: the caller does so once for all. @returns the number of devices
 * changed
 */
export async function renameTag(ctx: Context, orgId: string, from: string, to: string): Promise<number> {
  let after = '00000000-0000-0000-0000-000000000000';
  for (let count = 0; ; ) {
    const { rows } = await ctx.sql<{ id: string }>(RENAME, [orgId, from, to, after]);
    count += rows.length;
    if (rows.length < 500) return count;
    after = rows.reduce((max, { id }) => (id > max ? id : max), after);
  }
}
