/** A call of each operation of the live tools to a device that is connected and does as it is told; below the device. */
import type { AnyRoute } from '../../../core/contract/index.ts';
import { process } from '../../../modules/devices/system-tools/test/arrange.ts';

const BASE = '/system-tools/devices/{deviceId}';
const SERVICE = '/services/Spooler';
const TASK = '/tasks/%5CVendor%5CNightly';
const REGISTRY = 'hive=HKEY_LOCAL_MACHINE&path=SOFTWARE%5CContoso';
const key = { hive: 'HKEY_LOCAL_MACHINE', path: 'SOFTWARE\\Contoso' };

const CALLS: Record<string, { path: string; body?: object }> = {
  'GET /processes': { path: '/processes' },
  'GET /processes/{pid}': { path: '/processes/42' },
  'POST /processes/{pid}/kill': {
    path: '/processes/42/kill',
    body: { force: true, expectedName: process.name, expectedStartTime: process.startTime },
  },
  'GET /services': { path: '/services' },
  'GET /services/{name}': { path: SERVICE },
  ...Object.fromEntries(
    ['start', 'stop', 'restart'].map((verb) => [`POST /services/{name}/${verb}`, { path: `${SERVICE}/${verb}` }]),
  ),
  'GET /registry/keys': { path: `/registry/keys?${REGISTRY}` },
  'GET /registry/values': { path: `/registry/values?${REGISTRY}` },
  'GET /registry/value': { path: `/registry/value?${REGISTRY}&name=Edition` },
  'PUT /registry/value': {
    path: '/registry/value',
    body: { ...key, name: 'Edition', type: 'REG_SZ', data: 'Standard' },
  },
  'DELETE /registry/value': { path: `/registry/value?${REGISTRY}&name=Edition` },
  'POST /registry/key': { path: '/registry/key', body: key },
  'DELETE /registry/key': { path: `/registry/key?${REGISTRY}&recursive=true` },
  'GET /eventlogs': { path: '/eventlogs' },
  'GET /eventlogs/{name}': { path: '/eventlogs/System' },
  'GET /eventlogs/{name}/events': { path: '/eventlogs/System/events?level=information' },
  'GET /eventlogs/{name}/events/{recordId}': { path: '/eventlogs/System/events/77' },
  'GET /tasks': { path: '/tasks' },
  'GET /tasks/{path}': { path: TASK },
  'GET /tasks/{path}/history': { path: `${TASK}/history` },
  ...Object.fromEntries(
    ['run', 'enable', 'disable'].map((verb) => [`POST /tasks/{path}/${verb}`, { path: `${TASK}/${verb}` }]),
  ),
  'GET /files': { path: '/files?path=C:%5CUsers' },
};

export const isLive = ({ path }: AnyRoute): boolean => path.startsWith(`${BASE}/`);
/** @returns null where none is known. */
export function liveCall({ method, path }: AnyRoute, deviceId: string): { path: string; body?: object } | null {
  const call = CALLS[`${method} ${path.slice(BASE.length)}`];
  return call ? { ...call, path: BASE.replace('{deviceId}', deviceId) + call.path } : null;
}
