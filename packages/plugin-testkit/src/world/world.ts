/** What lies behind the host API in a test: each method over things in memory. */
import {
  HostError,
  type HostMethodName,
  mustBeNear,
  mustHaveTurn,
  nextDepth,
  onceKey,
} from '@quartermaster/plugin-sdk/host';
import type { FakeClock } from '../clock/fake-clock.ts';
import type { Devices } from './devices.ts';
import type { KvStore } from './kv-store.ts';
import type { Peers } from './peers.ts';
import type { Kept, Records } from './records.ts';

export interface Planned {
  name: string;
  at: string;
  data: Record<string, unknown>;
  depth: number;
}
export interface Emitted {
  name: string;
  data: Record<string, unknown>;
  depth: number;
}
export interface World {
  clock: FakeClock;
  kv: KvStore;
  http: Peers;
  devices: Devices;
  /** Null where the server has no such module. */
  alerts: Records | null;
  tickets: Records | null;
  notifications: Kept[] | null;
  emitted: Emitted[];
  /** By key. */
  planned: Map<string, Planned>;
}
interface Asking {
  timeoutMs: number;
  /** Of the event that caused the invocation. */
  depth: number;
}
// biome-ignore lint/suspicious/noExplicitAny: the params were held to the schema of the method, which names their type
type Method = (world: World, params: any, asking: Asking) => unknown;

function there<T>(one: T | null, method: string): T {
  if (one === null) throw new HostError('NOT_AVAILABLE', `This server has nothing behind ${method}`);
  return one;
}
const records = (name: 'alerts' | 'tickets', status: string): Record<string, Method> => ({
  [`${name}.list`]: (world, query) => there(world[name], `${name}.list`).list(query),
  [`${name}.get`]: (world, { id }) => there(world[name], `${name}.get`).get(id),
  [`${name}.create`]: (world, input) => there(world[name], `${name}.create`).create({ status, ...input }),
});
const AFTER: Record<string, string> = { acknowledge: 'acknowledged', resolve: 'resolved' };

const METHODS: Record<Exclude<HostMethodName, 'log'>, Method> & Record<string, Method> = {
  ...(records('alerts', 'open') as Record<'alerts.list' | 'alerts.get' | 'alerts.create', Method>),
  ...(records('tickets', 'new') as Record<'tickets.list' | 'tickets.get' | 'tickets.create', Method>),
  'alerts.update': ({ alerts }, { id, action, ...more }) =>
    there(alerts, 'alerts.update').update(id, { ...more, status: AFTER[action] }),
  'tickets.update': ({ tickets }, { id, ...change }) => there(tickets, 'tickets.update').update(id, change),
  'notifications.send': ({ notifications, clock }, message) => {
    const all = there(notifications, 'notifications.send');
    all.push({ id: `n${all.length + 1}`, at: new Date(clock.now()).toISOString(), ...message });
    return null;
  },
  'kv.get': ({ kv }, { key }) => kv.get(key),
  'kv.set': ({ kv }, { key, value }) => kv.set(key, value),
  'kv.cas': ({ kv }, { key, value, version }) => kv.cas(key, value, version),
  'kv.delete': ({ kv }, { key }) => kv.delete(key),
  'kv.list': ({ kv }, options) => kv.list(options),
  'http.fetch': ({ http }, params, { timeoutMs }) => http.fetch(params, timeoutMs),
  'devices.list': ({ devices }, query) => devices.list(query),
  'devices.get': ({ devices }, { id }) => devices.get(id),
  'devices.tag': ({ devices }, change) => devices.tag(change),
  'customFields.list': ({ devices }) => devices.definitions(),
  'customFields.get': ({ devices }, { deviceId }) => devices.mustExist(deviceId).customFields,
  'customFields.set': ({ devices }, { deviceId, values }) => {
    const [fault] = devices.write(deviceId, values);
    if (fault) throw new HostError('INVALID_PARAMS', fault);
    return null;
  },
  'events.emit': ({ emitted }, { name, data }, { depth }) => {
    emitted.push({ name, data, depth: nextDepth(depth) });
    return null;
  },
  'schedule.once': ({ clock, planned }, { name, at, data = {} }, { depth }) => {
    const when = new Date(at);
    mustBeNear(when, clock.now());
    mustHaveTurn(planned.size);
    planned.set(onceKey(name, when), { name, at: when.toISOString(), data, depth });
    return null;
  },
};

/** Throws HostError. The call was allowed already. */
export async function perform(world: World, method: string, params: unknown, asking: Asking): Promise<unknown> {
  const run = METHODS[method];
  if (!run) throw new HostError('NOT_AVAILABLE', `This server has nothing behind ${method}`);
  return run(world, params, asking);
}
