/** The group commit of heartbeats: one statement for all of them, and further statements only for what has changed. */
import { type Context, defineBatch } from '#core';
import type { Lifecycle } from '../../models/device.ts';
import type { ClaimedCommand, DeviceCommands } from '../../slots/commands.ts';
import type { DeviceMetrics } from '../../slots/metrics.ts';
import { type HeartbeatRow, mergeHeartbeats } from './heartbeat-rows.ts';
import { ADDRESSES_STATEMENT, SLOW_STATEMENT, stateStatement } from './heartbeat-statements.ts';

/** What a heartbeat found and changed, for its response, audit entries and events. */
export interface HeartbeatFacts {
  orgId: string;
  siteId: string;
  hostname: string;
  lifecycle: Lifecycle;
  uninstall: boolean;
  autoUpdateEnabled: boolean;
  wentOnline: boolean;
  /** False when the device returned before its offline event was emitted. */
  announceOnline: boolean;
  wentSilent: boolean;
  ipFrom: string | null;
  ipTo: string | null;
  /** The change of address is to be audited. */
  auditIp: boolean;
  changedFields: string[];
  commands: ClaimedCommand[];
}
interface StateRow {
  device_id: string;
  org_id: string;
  site_id: string;
  hostname: string;
  lifecycle: Lifecycle;
  uninstall: boolean;
  auto_update_enabled: boolean;
  went_online: boolean;
  held: boolean;
  went_silent: boolean;
  ip_from: string | null;
  ip_changed: boolean;
  slow: boolean;
  waiting: boolean;
}

/** A heartbeat, and what other modules contribute: the same for all items of a process. */
export interface HeartbeatItem {
  row: HeartbeatRow;
  metrics: readonly DeviceMetrics[];
  commands: readonly DeviceCommands[];
}

export const heartbeats = defineBatch<HeartbeatItem, HeartbeatFacts | null>({
  name: 'devices/heartbeats',
  maxSize: 500,
  // Ten thousand devices send 167 heartbeats a second: one by one they would take as many statements and commits.
  pace: { everyMs: 50, enough: 16 },
  // What changes less often than a heartbeat may follow in a statement of its own: a failed heartbeat is repeated.
  autocommit: true,
  async run(sql, items) {
    const rows = mergeHeartbeats(items.map(({ row }) => row));
    const byDevice = new Map(rows.map((row) => [row.device_id, row]));
    const { metrics = [], commands: queues = [] } = items[0] ?? {};
    const statement = stateStatement({
      samples: metrics.map(({ insertSamples }) => insertSamples),
      waiting: queues.map(({ isWaiting }) => isWaiting('o.device_id')).join(' or ') || 'false',
    });
    const { rows: states } = await sql<StateRow>(statement, [JSON.stringify(rows)], 'devices-heartbeats');
    const slow = states.filter((state) => state.slow).flatMap(({ device_id }) => byDevice.get(device_id) ?? []);
    const fields = await writeSlow(sql, slow);
    const moved = states.filter((state) => state.ip_changed);
    const due = await writeAddresses(sql, moved, byDevice);
    const commands = await claimWaiting(sql, queues, states, byDevice);
    const facts = new Map(states.map((state) => [state.device_id, factsOf(state, byDevice, fields, due)]));
    return responses(items, facts, commands);
  },
});

/** From the last heartbeat of a device and role backwards: that one receives the commands, and no fact is reported twice. */
function responses(
  items: readonly HeartbeatItem[],
  facts: ReadonlyMap<string, Omit<HeartbeatFacts, 'commands'>>,
  commands: ReadonlyMap<string, ClaimedCommand[]>,
): (HeartbeatFacts | null)[] {
  const answered = new Set<string>();
  return items
    .toReversed()
    .map(({ row }) => {
      const found = facts.get(row.device_id);
      if (!found) return null;
      const key = `${row.device_id} ${row.main}`;
      const mine = answered.has(key) ? [] : (commands.get(key) ?? []);
      const fresh = !answered.has(row.device_id);
      answered.add(key).add(row.device_id);
      return { ...found, ...(fresh ? {} : NOTHING_NEW), commands: mine };
    })
    .toReversed();
}

const NOTHING_NEW = { wentOnline: false, wentSilent: false, auditIp: false, changedFields: [] };

async function writeSlow(sql: Context['sql'], rows: HeartbeatRow[]): Promise<Map<string, string[]>> {
  if (rows.length === 0) return new Map();
  const changes = await sql<{ device_id: string; field: string }>(SLOW_STATEMENT, [JSON.stringify(rows)]);
  const fields = new Map<string, string[]>();
  for (const { device_id, field } of changes.rows) fields.set(device_id, [...(fields.get(device_id) ?? []), field]);
  return fields;
}

async function writeAddresses(sql: Context['sql'], moved: StateRow[], rowOf: Map<string, HeartbeatRow>) {
  if (moved.length === 0) return new Set<string>();
  const rows = moved.map(({ device_id, org_id }) => {
    const row = rowOf.get(device_id);
    return { device_id, org_id, ip: row?.ip, at: row?.at };
  });
  const written = await sql<{ device_id: string; due: boolean }>(ADDRESSES_STATEMENT, [JSON.stringify(rows)]);
  return new Set(written.rows.filter((row) => row.due).map((row) => row.device_id));
}

/** Commands by device and whether they are for the main agent. */
async function claimWaiting(
  sql: Context['sql'],
  queues: readonly DeviceCommands[],
  states: StateRow[],
  rowOf: Map<string, HeartbeatRow>,
): Promise<Map<string, ClaimedCommand[]>> {
  const requests = states
    .filter((state) => state.waiting)
    .flatMap(({ device_id: deviceId }) => {
      const row = rowOf.get(deviceId);
      const epoch = row?.epoch === undefined ? {} : { epoch: row.epoch };
      return [
        ...(row?.main ? [{ deviceId, role: 'agent' as const, ...epoch }] : []),
        ...(row?.watchdog ? [{ deviceId, role: 'watchdog' as const, ...epoch }] : []),
      ];
    });
  const claimed = new Map<string, ClaimedCommand[]>();
  if (requests.length === 0) return claimed;
  for (const { claim } of queues) {
    for (const { deviceId, role, command } of await claim({ sql }, requests)) {
      const key = `${deviceId} ${role === 'agent'}`;
      claimed.set(key, [...(claimed.get(key) ?? []), command]);
    }
  }
  return claimed;
}

function factsOf(
  state: StateRow,
  rowOf: Map<string, HeartbeatRow>,
  fields: Map<string, string[]>,
  due: Set<string>,
): Omit<HeartbeatFacts, 'commands'> {
  const row = rowOf.get(state.device_id);
  return {
    orgId: state.org_id,
    siteId: state.site_id,
    hostname: (row?.hostname as string | undefined) ?? state.hostname,
    lifecycle: state.lifecycle,
    uninstall: state.uninstall,
    autoUpdateEnabled: state.auto_update_enabled,
    wentOnline: state.went_online,
    announceOnline: !state.held,
    wentSilent: state.went_silent,
    ipFrom: state.ip_from,
    ipTo: row?.ip ?? null,
    auditIp: state.ip_from !== null && due.has(state.device_id),
    changedFields: fields.get(state.device_id) ?? [],
  };
}
