/** Where devices stand with their updates: group commits that heartbeats share, and what is remembered of them. */

import type { Platform, ReleaseArchitecture } from '#agent-protocol';
import { type Context, defineBatch, defineService, type StartServices } from '#core';
import {
  ATTEMPT_FIELDS,
  type Attempt,
  COUNTED,
  FORGIVEN,
  MOST_ATTEMPTS,
  type OpenState,
  TRANSIENT,
  type Updatable,
} from '../../models/attempt.ts';

/** With a device's id: its attempts changed. */
export const DEVICE_NOTICE = 'agent-versions.device';
const MOST_DEVICES = 100_000;

export interface OpenAttempt {
  component: Updatable;
  version: string;
  state: OpenState;
}
export interface Facts {
  orgId: string;
  partnerId: string;
  platform: Platform;
  architecture: ReleaseArchitecture | null;
  open: OpenAttempt | null;
}
export interface Standing extends Facts {
  /** The versions that the device named when this was read. */
  said: Partial<Record<Updatable, string>>;
  /** Milliseconds of the process's clock before which another offer of this version is not asked for. */
  notBefore: Map<string, number>;
}

/** At most so many devices are remembered; the one remembered longest makes way. */
export class Standings {
  readonly #byDevice = new Map<string, Standing>();
  #forgotten = 0;

  get(deviceId: string): Standing | undefined {
    return this.#byDevice.get(deviceId);
  }
  /** Grows with everything forgotten: what was read before must not be kept after. */
  get mark(): number {
    return this.#forgotten;
  }
  keep(deviceId: string, standing: Standing, mark: number): void {
    if (mark !== this.#forgotten) return;
    const oldest = this.#byDevice.keys().next();
    if (this.#byDevice.size >= MOST_DEVICES && !oldest.done) this.#byDevice.delete(oldest.value);
    this.#byDevice.set(deviceId, standing);
  }
  forget(deviceId: string): void {
    this.#forgotten += 1;
    this.#byDevice.delete(deviceId);
  }
  clear(): void {
    this.#forgotten += 1;
    this.#byDevice.clear();
  }
}

export const STANDINGS = defineService<Standings>('agent-versions.standings');

export function startStandings({ onNotice, onNoticesLost }: StartServices): Standings {
  const standings = new Standings();
  onNotice(DEVICE_NOTICE, (deviceId) => (deviceId === '*' ? standings.clear() : standings.forget(deviceId)));
  onNotice('devices.changed', (deviceId) => standings.forget(deviceId));
  onNoticesLost(() => standings.clear());
  return standings;
}
export const standingsOf = (ctx: Context): Standings => ctx.services.get(STANDINGS);

export interface Look {
  deviceId: string;
  said: { component: Updatable; version: string }[];
}
export interface Seen {
  facts: Facts | null;
  /** Attempts that the named versions ended. */
  ended: Attempt[];
}

// The version that runs decides, not what was reported: an agent that beats with the wanted version has been updated, also
// when the time of its attempt was thought to be over. A beat may still be on its way when the restart is reported.
// reach: devices of agents, each named by its own token
const SETTLE = `
with b as (select * from json_to_recordset($1::json) as b (device_id uuid, component text, version text)),
due as (
  select a.id, case when b.version = a.to_version then 'succeeded' else 'rolled_back' end as state
  from b join agent_update_attempts a on a.device_id = b.device_id and a.component = b.component
  where b.version = a.to_version and (a.finished_at is null or a.state = 'failed' and a.reason = 'timeout'
      and not exists (select from agent_update_attempts later
        where later.device_id = a.device_id and later.component = a.component and later.started_at > a.started_at))
    or b.version = a.from_version and a.state = 'restarting' and a.updated_at < now() - interval '2 seconds'
  order by a.id for no key update of a)
update agent_update_attempts a set state = due.state, finished_at = now(), updated_at = now(),
  reason = case when due.state = 'rolled_back' then 'start_failed' end
from due where a.id = due.id returning ${ATTEMPT_FIELDS}`;

// Devices belong to another module; their coordinates, lifecycle and running commands decide here, in one statement for
// hundreds of beats, which no call of its API gives.
// reach: devices of agents, each named by its own token
const FACTS = `
select d.id as "deviceId", d.org_id as "orgId", o.partner_id as "partnerId", d.os_type as platform,
  case d.architecture when 'x64' then 'amd64' when 'arm64' then 'arm64' end as architecture,
  a.component, a.to_version as version, a.state
from devices d join organizations o on o.id = d.org_id
left join agent_update_attempts a on a.device_id = d.id and a.finished_at is null
where d.id = any($1::uuid[])`;

type FactRow = Omit<Facts, 'open'> & OpenAttempt & { deviceId: string };

export const looks = defineBatch<Look, Seen>({
  name: 'agent-versions/looks',
  maxSize: 500,
  autocommit: true,
  async run(sql, items) {
    const said = items.flatMap(({ deviceId, said }) => said.map((one) => ({ device_id: deviceId, ...one })));
    const ended = await sql<Attempt & object>(SETTLE, [JSON.stringify(said)], 'agent-versions-settle');
    const ids = items.map(({ deviceId }) => deviceId);
    const { rows } = await sql<FactRow>(FACTS, [ids], 'agent-versions-facts');
    const facts = new Map(rows.map((row) => [row.deviceId, factsOf(row)]));
    const told = new Set<string>();
    return items.map(({ deviceId }) => {
      const mine = told.has(deviceId) ? [] : ended.rows.filter((row) => row.deviceId === deviceId);
      told.add(deviceId);
      return { facts: facts.get(deviceId) ?? null, ended: mine };
    });
  },
});

function factsOf({ orgId, partnerId, platform, architecture, component, version, state }: FactRow): Facts {
  return { orgId, partnerId, platform, architecture, open: state ? { component, version, state } : null };
}

export interface Proposal {
  deviceId: string;
  component: Updatable;
  fromVersion: string;
  toVersion: string;
}
export interface Answer {
  offered: boolean;
  /** When to ask again, in milliseconds from now. */
  againMs: number;
}

// An offer that no agent has taken up makes way for that of another version. A statement of its own: what it frees, the next
// one must see.
// reach: devices of agents, each named by its own token
const SUPERSEDE = `
update agent_update_attempts a set state = 'failed', reason = 'superseded', finished_at = now(), updated_at = now()
from json_to_recordset($1::json) as w (device_id uuid, component text, to_version text)
where a.device_id = w.device_id and a.state = 'offered' and a.component = w.component and a.to_version <> w.to_version`;

// At most three attempts, an hour and six hours apart; what a locked file or a broken download ended is forgiven at first.
// reach: devices of agents, each named by its own token
const OFFER = `
with w as (select * from json_to_recordset($1::json)
  as w (device_id uuid, component text, from_version text, to_version text)),
judged as (
  select w.*, d.org_id, h.tries, case
    when d.lifecycle <> 'active' or not d.auto_update_enabled or d.maintenance_until > now()
      or o.status not in ('active', 'trial') or p.status <> 'active' or o.deleted_at is not null then 'unfit'
    when exists (select from agent_update_attempts a where a.device_id = d.id and a.finished_at is null) then 'busy'
    when exists (select from device_commands c where c.device_id = d.id and c.status in ('sent', 'running')) then 'busy'
    when h.rolled_back or h.counted >= ${MOST_ATTEMPTS} then 'over'
    when h.ended_at > now() - case h.counted when 0 then interval '0' when 1 then interval '1 hour'
      else interval '6 hours' end then 'spaced' end as refusal
  from w join devices d on d.id = w.device_id join organizations o on o.id = d.org_id
    join partners p on p.id = o.partner_id
  cross join lateral (
    select count(*)::int as tries, coalesce(bool_or(a.state = 'rolled_back' and not a.forgiven), false) as rolled_back,
      (count(*) filter (where ${COUNTED} and coalesce(a.reason, '') <> all ($2)) + greatest(0,
        count(*) filter (where ${COUNTED} and a.reason = any ($2)) - ${FORGIVEN}))::int as counted,
      max(a.finished_at) filter (where ${COUNTED}) as ended_at
    from agent_update_attempts a
    where a.device_id = d.id and a.component = w.component and a.to_version = w.to_version) h),
made as (
  insert into agent_update_attempts (org_id, device_id, component, from_version, to_version, attempt)
  select org_id, device_id, component, from_version, to_version, tries + 1 from judged where refusal is null
  on conflict do nothing returning device_id, component)
select j.device_id as "deviceId", j.component, m.device_id is not null as offered, j.refusal
from judged j left join made m on m.device_id = j.device_id and m.component = j.component`;

const AGAIN_MS: Record<string, number> = { busy: 60_000, unfit: 300_000, spaced: 300_000, over: 3_600_000 };

/** Inserts attempts where the state of the device allows one. */
export const proposals = defineBatch<Proposal, Answer>({
  name: 'agent-versions/proposals',
  maxSize: 500,
  autocommit: true,
  async run(sql, items) {
    const unique = new Map(items.map((item) => [`${item.deviceId} ${item.component}`, item]));
    const wanted = [...unique.values()].map(({ deviceId, component, fromVersion, toVersion }) => ({
      ...{ device_id: deviceId, component, from_version: fromVersion, to_version: toVersion },
    }));
    const list = JSON.stringify(wanted);
    await sql(SUPERSEDE, [list], 'agent-versions-supersede');
    const { rows } = await sql<{ deviceId: string; component: string; offered: boolean; refusal: string | null }>(
      OFFER,
      [list, TRANSIENT],
      'agent-versions-offer',
    );
    const byDevice = new Map(rows.map((row) => [`${row.deviceId} ${row.component}`, row]));
    return items.map(({ deviceId, component }) => {
      const row = byDevice.get(`${deviceId} ${component}`);
      return { offered: row?.offered ?? false, againMs: AGAIN_MS[row?.refusal ?? 'busy'] ?? 60_000 };
    });
  },
});
