/** The update state of devices: group commits that heartbeats share, and a cache in memory. */

import type { Platform, ReleaseArchitecture } from '#agent-protocol';
import { type Context, defineBatch, defineService, type StartServices } from '#core';
import {
  ATTEMPT_FIELDS,
  type Attempt,
  COUNTED,
  FORGIVEN_FAILURES,
  MAX_ATTEMPTS,
  type OpenState,
  TRANSIENT,
  type Updatable,
} from '../../models/attempt.ts';

/** Sent with the id of a device when its attempts changed; `*` stands for all devices. */
export const DEVICE_NOTICE = 'agent-versions.device';
const MAX_DEVICES = 100_000;

export interface OpenAttempt {
  component: Updatable;
  version: string;
  state: OpenState;
}
export interface DeviceFacts {
  orgId: string;
  partnerId: string;
  platform: Platform;
  architecture: ReleaseArchitecture | null;
  open: OpenAttempt | null;
}
export interface DeviceState extends DeviceFacts {
  /** The versions that the device named when this state was read. */
  said: Partial<Record<Updatable, string>>;
  /** By component and version: when it may be proposed again, in milliseconds of the monotonic clock. */
  notBefore: Map<string, number>;
}

/** Keeps at most MAX_DEVICES states; a new one replaces the oldest. */
export class DeviceStates {
  readonly #byDevice = new Map<string, DeviceState>();
  #forgotten = 0;

  get(deviceId: string): DeviceState | undefined {
    return this.#byDevice.get(deviceId);
  }
  /** Changes whenever a state is dropped. What was read under an earlier mark must not be kept. */
  get mark(): number {
    return this.#forgotten;
  }
  keep(deviceId: string, device: DeviceState, mark: number): void {
    if (mark !== this.#forgotten) return;
    const oldest = this.#byDevice.keys().next();
    if (this.#byDevice.size >= MAX_DEVICES && !oldest.done) this.#byDevice.delete(oldest.value);
    this.#byDevice.set(deviceId, device);
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

export const DEVICE_STATES = defineService<DeviceStates>('agent-versions.device-states');

export function startDeviceStates({ onNotice, onNoticesLost }: StartServices): DeviceStates {
  const states = new DeviceStates();
  onNotice(DEVICE_NOTICE, (deviceId) => (deviceId === '*' ? states.clear() : states.forget(deviceId)));
  onNotice('devices.changed', (deviceId) => states.forget(deviceId));
  onNoticesLost(() => states.clear());
  return states;
}
export const deviceStatesOf = (ctx: Context): DeviceStates => ctx.services.get(DEVICE_STATES);

export interface StateRequest {
  deviceId: string;
  said: { component: Updatable; version: string }[];
}
export interface StateAnswer {
  facts: DeviceFacts | null;
  /** The attempts that the named versions ended. */
  ended: Attempt[];
}

// The running version decides, not the reports: an agent whose heartbeat names the wanted version has been updated, even if the
// attempt has already timed out. A heartbeat of the old version may still arrive shortly after the agent reported its restart.
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

// Devices belong to another module, but no function of its api reads platform, lifecycle and running commands for hundreds of
// heartbeats in one statement.
// reach: devices of agents, each named by its own token
const FACTS = `
select d.id as "deviceId", d.org_id as "orgId", o.partner_id as "partnerId", d.os_type as platform,
  case d.architecture when 'x64' then 'amd64' when 'arm64' then 'arm64' end as architecture,
  a.component, a.to_version as version, a.state
from devices d join organizations o on o.id = d.org_id
left join agent_update_attempts a on a.device_id = d.id and a.finished_at is null
where d.id = any($1::uuid[])`;

type FactRow = Omit<DeviceFacts, 'open'> & OpenAttempt & { deviceId: string };

export const looks = defineBatch<StateRequest, StateAnswer>({
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

function factsOf({ orgId, partnerId, platform, architecture, component, version, state }: FactRow): DeviceFacts {
  return { orgId, partnerId, platform, architecture, open: state ? { component, version, state } : null };
}

export interface Proposal {
  deviceId: string;
  component: Updatable;
  fromVersion: string;
  toVersion: string;
}
export interface ProposalAnswer {
  offered: boolean;
  /** When to propose the version again, in milliseconds from now. */
  retryMs: number;
}

// Ends an offer that no agent has taken up when another version is proposed. A separate statement, because the next one must see
// its effect.
// reach: devices of agents, each named by its own token
const SUPERSEDE = `
update agent_update_attempts a set state = 'failed', reason = 'superseded', finished_at = now(), updated_at = now()
from json_to_recordset($1::json) as w (device_id uuid, component text, to_version text)
where a.device_id = w.device_id and a.state = 'offered' and a.component = w.component and a.to_version <> w.to_version`;

// At most three attempts: the second after an hour, the third six hours later. The first transient failures do not count.
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
    when h.rolled_back or h.counted >= ${MAX_ATTEMPTS} then 'over'
    when h.ended_at > now() - case h.counted when 0 then interval '0' when 1 then interval '1 hour'
      else interval '6 hours' end then 'spaced' end as obstacle
  from w join devices d on d.id = w.device_id join organizations o on o.id = d.org_id
    join partners p on p.id = o.partner_id
  cross join lateral (
    select count(*)::int as tries, coalesce(bool_or(a.state = 'rolled_back' and not a.forgiven), false) as rolled_back,
      (count(*) filter (where ${COUNTED} and coalesce(a.reason, '') <> all ($2)) + greatest(0,
        count(*) filter (where ${COUNTED} and a.reason = any ($2)) - ${FORGIVEN_FAILURES}))::int as counted,
      max(a.finished_at) filter (where ${COUNTED}) as ended_at
    from agent_update_attempts a
    where a.device_id = d.id and a.component = w.component and a.to_version = w.to_version) h),
made as (
  insert into agent_update_attempts (org_id, device_id, component, from_version, to_version, attempt)
  select org_id, device_id, component, from_version, to_version, tries + 1 from judged where obstacle is null
  on conflict do nothing returning device_id, component)
select j.device_id as "deviceId", j.component, m.device_id is not null as offered, j.obstacle
from judged j left join made m on m.device_id = j.device_id and m.component = j.component`;

const RETRY_MS: Record<string, number> = { busy: 60_000, unfit: 300_000, spaced: 300_000, over: 3_600_000 };

/** Inserts an attempt where the state of the device allows one. */
export const proposals = defineBatch<Proposal, ProposalAnswer>({
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
    const { rows } = await sql<{ deviceId: string; component: string; offered: boolean; obstacle: string | null }>(
      OFFER,
      [list, TRANSIENT],
      'agent-versions-offer',
    );
    const byDevice = new Map(rows.map((row) => [`${row.deviceId} ${row.component}`, row]));
    return items.map(({ deviceId, component }) => {
      const row = byDevice.get(`${deviceId} ${component}`);
      return { offered: row?.offered ?? false, retryMs: RETRY_MS[row?.obstacle ?? 'busy'] ?? 60_000 };
    });
  },
});
