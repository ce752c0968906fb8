/** A one-row change with its audit entry through the API, against the same statements through bare pg. */
import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { openDatabase } from '../../../core/database/pools.ts';
import { request } from '../request.ts';
import { drive, inTurns, rounded, type Scenario } from '../scenario.ts';

const LANES = 16;

export const scenario: Scenario = {
  title: `PATCH /orgs/sites/:id in ${LANES} lanes, changes a second, against the same statements and commits through pg`,
  async run(ground) {
    const base = await ground.api();
    const { partner, orgId, partnerId } = await ground.tenant();
    const sites = await ground.sql<{ id: string }>(
      `insert into sites (org_id, name) select $1, 'Bench ' || n from generate_series(1, $2) n returning id`,
      [orgId, LANES],
    );
    const headers = { authorization: `Bearer ${partner.token}`, 'content-type': 'application/json' };
    let latency = { p50: 0, p99: 0 };
    const ours = async () => {
      const client = request(base, LANES);
      const { perSecond, ...rest } = await drive(ground.seconds, LANES, async (lane, round) => {
        const status = await client.send(
          'PATCH',
          `/api/v1/orgs/sites/${sites[lane]?.id}`,
          headers,
          JSON.stringify({ name: `Bench ${round}` }),
        );
        if (status !== 200) throw new Error(`answered ${status}`);
      });
      latency = rest;
      await client.close();
      return perSecond;
    };
    const entry = (id: string) => ({
      orgId,
      partnerId,
      at: new Date().toISOString(),
      actorType: 'user',
      actorId: partner.id,
      actorEmail: partner.email,
      actorName: 'Bench',
      action: 'site.update',
      resourceType: 'site',
      resourceId: id,
      resourceName: 'Bench',
      details: { changedFields: ['name'] },
      ipAddress: '127.0.0.1',
      userAgent: null,
      result: 'success',
      errorMessage: null,
    });
    const database = openDatabase({ url: ground.databaseUrl, poolSize: 10, onError: () => undefined });
    const bare = async () => {
      const { perSecond } = await drive(ground.seconds, LANES, async (lane, round) => {
        const id = sites[lane]?.id ?? randomUUID();
        const client: pg.PoolClient = await database.app.connect();
        await client.query(
          `begin; select set_config('app.org_ids', '{${orgId}}', true), set_config('app.partner_id', '${partnerId}', true)`,
        );
        await client.query('select * from sites where org_id = any($2::uuid[]) and id = $1', [id, [orgId]]);
        await client.query(
          'update sites set name = $3, updated_at = now() where org_id = any($2::uuid[]) and id = $1 returning *',
          [id, [orgId], `Bench ${round}`],
        );
        await client.query('select flush_effects($1::jsonb)', [JSON.stringify({ audits: [entry(id)] })]);
        await client.query('commit');
        client.release();
      });
      return perSecond;
    };
    const figures = await inTurns(3, ours, bare);
    await database.close();
    return { ...figures, 'p50 ms': rounded(latency.p50), 'p99 ms': rounded(latency.p99) };
  },
};
