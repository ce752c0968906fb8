/** One who follows a list through its changes, and what a row of each list is made and unmade by. */
import { randomUUID } from 'node:crypto';
import type { Person, Tenant, TestPlatform } from '#test';

export interface Page {
  data: ({ id: string } & Record<string, unknown>)[];
  deleted: { id: string; deletedAt: string }[];
  pagination: { hasMore: boolean; cursor: string };
}

/** Resolves when everything that has begun by now is over, in the whole cluster: until then changes are not told. */
export async function settled({ sql }: Pick<TestPlatform, 'sql'>): Promise<void> {
  const ask = async (which: 'xmin' | 'xmax') =>
    BigInt((await sql<{ x: string }>(`select pg_snapshot_${which}(pg_current_snapshot())::text as x`))[0]?.x ?? 0);
  const begun = await ask('xmax');
  const until = Date.now() + 60_000;
  while ((await ask('xmin')) < begun) {
    if (Date.now() > until) throw new Error('a transaction has been open for a minute');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Keeps a copy of a list by its changes alone, as an integrator would. */
export class Replica {
  readonly rows = new Map<string, Record<string, unknown>>();
  cursor = '';
  private readonly platform: Pick<TestPlatform, 'call' | 'sql'>;
  private readonly path: string;
  private readonly token: string;
  private readonly limit: number;

  constructor(platform: Pick<TestPlatform, 'call' | 'sql'>, path: string, { token }: Person, limit = 500) {
    this.platform = platform;
    this.path = path;
    this.token = token;
    this.limit = limit;
  }

  async ask(query: string) {
    const url = `${this.path}${this.path.includes('?') ? '&' : '?'}limit=${this.limit}&${query}`;
    return this.platform.call<Page & { error?: { code: string } }>('GET', url, { token: this.token });
  }

  /** One page, applied; resolves with it. */
  async step(): Promise<Page> {
    const query = this.cursor ? `cursor=${this.cursor}` : 'updatedSince=beginning';
    const { status, body } = await this.ask(query);
    if (status !== 200) throw new Error(`${this.path} answered ${status}: ${JSON.stringify(body)}`);
    for (const { id } of body.deleted) this.rows.delete(id);
    for (const row of body.data) this.rows.set(row.id, row);
    this.cursor = body.pagination.cursor;
    return body;
  }

  /** Follows to the end of what is over by now; resolves with all that was told. */
  async follow(): Promise<{ ids: string[]; gone: string[] }> {
    await settled(this.platform);
    return this.followOpen();
  }

  /** The same while transactions are open. */
  async followOpen(): Promise<{ ids: string[]; gone: string[] }> {
    const ids: string[] = [];
    const gone: string[] = [];
    for (;;) {
      const { data, deleted, pagination } = await this.step();
      ids.push(...data.map(({ id }) => id));
      gone.push(...deleted.map(({ id }) => id));
      if (!pagination.hasMore) return { ids, gone };
    }
  }
}

type Sql = (text: string, values?: unknown[]) => Promise<unknown>;
export interface Life {
  /** Makes a row in the tenant's list with this id. */
  make(sql: Sql, tenant: Tenant, id: string): Promise<unknown>;
  touch(sql: Sql, id: string): Promise<unknown>;
  remove(sql: Sql, id: string): Promise<unknown>;
}

const device = (id: string, { orgId, siteId }: Tenant): [string, unknown[]] => [
  `with d as (insert into devices (id, org_id, site_id, hostname, os_type, lifecycle)
     values ($1::uuid, $2, $3, 'host-' || $1::uuid, 'linux', 'active') returning id, org_id)
   insert into device_state (device_id, org_id) select id, org_id from d`,
  [id, orgId, siteId],
];

/** By path: what `sql` does to a row of the list, past the API, as any way to it must be noticed. */
export const LIVES: Record<string, Life> = {
  '/orgs/organizations': {
    make: (sql, { partnerId }, id) =>
      sql(
        `insert into organizations (id, partner_id, name, slug) values ($1::uuid, $2, $1::uuid::text, $1::uuid::text)`,
        [id, partnerId],
      ),
    touch: (sql, id) => sql(`update organizations set status = 'suspended' where id = $1`, [id]),
    remove: (sql, id) => sql('update organizations set deleted_at = now() where id = $1', [id]),
  },
  '/orgs/sites': {
    make: (sql, { orgId }, id) =>
      sql('insert into sites (id, org_id, name) values ($1::uuid, $2, $1::uuid::text)', [id, orgId]),
    touch: (sql, id) => sql(`update sites set contact = '{"a": 1}' where id = $1`, [id]),
    remove: (sql, id) => sql('delete from sites where id = $1', [id]),
  },
  '/users': {
    make: (sql, { partnerId, partnerRoleId }, id) =>
      sql(
        `with u as (insert into users (id, email, name) values ($1::uuid, $1::uuid::text, 'Somebody') returning id)
         insert into partner_users (user_id, partner_id, role_id) select id, $2, $3 from u`,
        [id, partnerId, partnerRoleId],
      ),
    touch: (sql, id) => sql(`update users set name = 'Another' where id = $1`, [id]),
    remove: (sql, id) => sql('delete from partner_users where user_id = $1', [id]),
  },
  '/devices': {
    make: (sql, tenant, id) => sql(...device(id, tenant)),
    touch: (sql, id) => sql(`update device_state set connectivity = 'online' where device_id = $1`, [id]),
    remove: (sql, id) =>
      sql(`update devices set lifecycle = 'decommissioned', decommissioned_at = now() where id = $1`, [id]),
  },
  '/software/inventory': {
    async make(sql, tenant, id) {
      const on = randomUUID();
      await sql(...device(on, tenant));
      return sql(`insert into device_software (id, device_id, org_id, name) values ($1::uuid, $2, $3, 'editor')`, [
        ...[id, on, tenant.orgId],
      ]);
    },
    touch: (sql, id) => sql(`update device_software set vendor = 'Another' where id = $1`, [id]),
    remove: (sql, id) => sql('delete from device_software where id = $1', [id]),
  },
};
