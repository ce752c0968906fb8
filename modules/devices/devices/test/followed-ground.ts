/** A platform whose devices are followed, with the sites and groups of limited callers. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { startTestPlatform } from '#test';

export const platform = await startTestPlatform();
const { sql } = platform;
test.after.always(() => platform.stop());

export const site = async (orgId: string) =>
  (await sql<{ id: string }>(`insert into sites (org_id, name) values ($1, 'Second') returning id`, [orgId]))[0]?.id ??
  '';
export const group = async (orgId: string) =>
  (
    await sql<{ id: string }>(`insert into device_groups (org_id, name, type) values ($1, $2, 'static') returning id`, [
      ...[orgId, randomUUID()],
    ])
  )[0]?.id ?? '';
export const join = (groupId: string, deviceId: string, orgId: string) =>
  sql(`insert into device_group_members (group_id, device_id, org_id, added_by) values ($1, $2, $3, 'manual')`, [
    ...[groupId, deviceId, orgId],
  ]);
