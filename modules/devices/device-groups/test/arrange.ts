/** Groups and their devices for the tests of this module, through the API. */
import { randomUUID } from 'node:crypto';
import { type Called, type ErrorBody, orgUser, type TestPlatform, tenant } from '#test';
import { asPlatform, enroll, heartbeat } from '../../devices/test/arrange.ts';

export { asPlatform, enroll, heartbeat };

export interface Group {
  id: string;
  name: string;
  type: string;
  deviceCount: number;
  evaluationMode: string | null;
  evaluationStatus: string;
  lastEvaluationError: string | null;
  isAccessRestricting: boolean;
  filter: object | null;
  filterFields: string[];
  parentId: string | null;
  [field: string]: unknown;
}
export type Answer = Called<{ data: Group; evaluation: { added: number; removed?: number } } & ErrorBody>;

export const where = (...conditions: [string, string, unknown?][]) => ({
  operator: 'AND',
  conditions: conditions.map(([field, operator, value]) => ({
    field,
    operator,
    ...(value === undefined ? {} : { value }),
  })),
});
export const either = (...conditions: object[]) => ({ operator: 'OR', conditions });

export function caller(platform: TestPlatform) {
  const call = <B = object>(method: string, path: string, token: string, body?: unknown) =>
    platform.call<B & ErrorBody>(method, `/groups${path}`, { token, ...(body === undefined ? {} : { body }) });
  const create = (token: string, body: object): Promise<Answer> =>
    call('POST', '', token, { name: `Group ${randomUUID().slice(0, 8)}`, ...body }) as Promise<Answer>;
  return {
    call,
    create,
    dynamic: (token: string, filter: object, more: object = {}) => create(token, { type: 'dynamic', filter, ...more }),
    fixed: (token: string, deviceIds: string[] = [], more: object = {}) =>
      create(token, { type: 'static', deviceIds, ...more }),
    read: async (token: string, id: string) => (await call<{ data: Group }>('GET', `/${id}`, token)).body.data,
    patch: (token: string, id: string, body: object) => call('PATCH', `/${id}`, token, body) as Promise<Answer>,
    /** Host names of the members, as the list of the group has them. */
    hosts: async (token: string, id: string, query = '') =>
      (await call<{ data: { hostname: string }[] }>('GET', `/${id}/devices${query}`, token)).body.data.map(
        (device) => device.hostname,
      ),
    log: async (id: string) =>
      (
        await platform.sql<{ entry: string }>(
          `select action || ' ' || reason || ' ' || hostname as entry from device_group_membership_log
           where group_id = $1 order by created_at, action, reason, hostname`,
          [id],
        )
      ).map((row) => row.entry),
    code: ({ status, body }: Called<ErrorBody>): [number, string] => [status, body.error?.code],
    patchDevice: (token: string, id: string, body: object) => platform.call('PATCH', `/devices/${id}`, { token, body }),
    runJob: async (name: string, payload: object = {}, orgId?: string) => {
      await platform.sql(
        `select graphile_worker.add_job($1, json_build_object('orgId', $2::text, 'requestId', 'test', 'data', $3::json))`,
        [name, orgId ?? null, JSON.stringify(payload)],
      );
      await platform.runJobs();
    },
  };
}

/** A tenant with devices of these names on linux, and a second site. */
export async function place(platform: TestPlatform, ...names: string[]) {
  const made = await tenant(platform);
  const [second] = await platform.sql<{ id: string }>(
    `insert into sites (org_id, name) values ($1, 'Second') returning id`,
    [made.orgId],
  );
  const ids: Record<string, string> = {};
  for (const hostname of names) ids[hostname] = (await enroll(platform, made, { hostname })).deviceId;
  const id = (name: string) => ids[name] ?? '';
  const limited = (to: { siteIds?: string[]; deviceGroupIds?: string[]; roleId?: string }) =>
    orgUser(platform, { orgId: made.orgId, ...to });
  return { ...made, secondSiteId: second?.id ?? '', token: made.orgAdmin.token, id, limited };
}
