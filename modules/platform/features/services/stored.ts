/** Rows of switches: reading them, and writing one by compare-and-set. */
import type { Context } from '#core';
import type { StoredSwitch, SwitchOwner } from '../models/switch.ts';

const TENANT = `enabled, false as locked, source, expires_at as "expiresAt", reason, updated_by as "updatedBy",
  updated_at as "updatedAt"`;
const INSTANCE = `enabled, locked, 'manual' as source, null::timestamptz as "expiresAt", reason,
  updated_by as "updatedBy", updated_at as "updatedAt"`;

type Keyed = StoredSwitch & { key: string };

/** All switches of a place by module. Those of the installation need the platform's role. */
export async function switchesOf(ctx: Context, place: SwitchOwner): Promise<Map<string, Keyed>> {
  const read = (reader: Context) =>
    place.level === 'instance'
      ? reader.sql<Keyed>(`select key, ${INSTANCE} from instance_modules`)
      : reader.sql<Keyed>(
          `select key, ${TENANT} from tenant_modules where partner_id = $1 and org_id is not distinct from $2::uuid`,
          [place.partnerId, place.orgId],
        );
  const beyond = place.level === 'instance' && ctx.scope.kind !== 'system';
  const { rows } = await (beyond ? ctx.asPlatform(read) : read(ctx));
  return new Map(rows.map((row) => [row.key, row]));
}

/** Serializes changes to the switches of one place until commit, so that the checks still hold at the write. */
export const takeTurn = (ctx: Context) => ctx.sql(`select pg_advisory_xact_lock(hashtextextended('modules', 0))`);

export interface Written {
  enabled: boolean;
  locked?: boolean | undefined;
  reason?: string | null | undefined;
  trialDays?: number | undefined;
}

/** False when the row already had these values. */
export async function writeInstance(ctx: Context, key: string, say: Written): Promise<boolean> {
  const { rowCount } = await ctx.sql(
    `insert into instance_modules as m (key, enabled, locked, reason, updated_by)
     values ($1, $2, coalesce($3, false), $4, $5)
     on conflict (key) do update set enabled = $2, locked = coalesce($3, m.locked), reason = $4, updated_by = $5,
       updated_at = now()
     where (m.enabled, m.locked, m.reason) is distinct from ($2, coalesce($3, m.locked), $4)`,
    [key, say.enabled, say.locked ?? null, say.reason || null, ctx.actor.id],
  );
  return (rowCount ?? 0) > 0;
}

/** A running trial stays one, even when it is switched off and on meanwhile. */
export async function writeTenant(ctx: Context, place: SwitchOwner, key: string, say: Written): Promise<boolean> {
  const { rowCount } = await ctx.sql(
    `insert into tenant_modules as m (partner_id, org_id, key, enabled, source, expires_at, reason, updated_by)
     values ($1, $2, $3, $4, case when $7::int is null then 'manual' else 'trial' end,
       now() + make_interval(days => $7), $5, $6)
     on conflict (partner_id, org_id, key) do update set enabled = $4, reason = $5, updated_by = $6, updated_at = now(),
       source = case when $7 is not null or ($8 and m.expires_at > now()) then 'trial' else 'manual' end,
       expires_at = case when $7 is not null then excluded.expires_at
         when $8 and m.expires_at > now() then m.expires_at end,
       noticed_days = case when $7 is null then m.noticed_days end
     where (m.enabled, m.reason) is distinct from ($4, $5) or $7 is not null
       or (m.expires_at is not null and not ($8 and m.expires_at > now()))`,
    [
      ...[place.partnerId, place.orgId, key, say.enabled, say.reason || null, ctx.actor.id, say.trialDays ?? null],
      ctx.scope.kind !== 'system',
    ],
  );
  return (rowCount ?? 0) > 0;
}

/** False when no row existed. */
export async function forgetTenant(ctx: Context, { partnerId, orgId }: SwitchOwner, key: string): Promise<boolean> {
  const { rowCount } = await ctx.sql('delete from tenant_modules where partner_id = $1 and org_id = $2 and key = $3', [
    partnerId,
    orgId,
    key,
  ]);
  return (rowCount ?? 0) > 0;
}
