/** A call of a tool and a file transfer, and examples for the contract tests: calls to a connected device. */
import type { Example, ExampleCall, ExampleContext, NamedTest } from '#test';
import { answers, bench, process } from './arrange.ts';

const BASE = '/system-tools/devices/{deviceId}';
const SERVICE = '/services/Spooler';
const TASK = '/tasks/%5CVendor%5CNightly';
const REGISTRY = 'hive=HKEY_LOCAL_MACHINE&path=SOFTWARE%5CContoso';
const REGISTRY_KEY = { hive: 'HKEY_LOCAL_MACHINE', path: 'SOFTWARE\\Contoso' };
const KILL = { force: true, expectedName: process.name, expectedStartTime: process.startTime };

/** The path of a connected device that runs its commands. */
const device = ({ platform, tenant, once, onEnd }: ExampleContext) =>
  once('connected device', async () => {
    const { live, path } = await bench(platform, answers, { at: tenant });
    onEnd(() => live.close());
    return path;
  });

/** Calls below the device, by operation below the device: its path and body. */
const CALLS: Record<string, [path: string, body?: object]> = {
  'GET /processes': ['/processes'],
  'GET /processes/{pid}': ['/processes/42'],
  'POST /processes/{pid}/kill': ['/processes/42/kill', KILL],
  'GET /services': ['/services'],
  'GET /services/{name}': [SERVICE],
  'POST /services/{name}/start': [`${SERVICE}/start`],
  'POST /services/{name}/stop': [`${SERVICE}/stop`],
  'POST /services/{name}/restart': [`${SERVICE}/restart`],
  'GET /registry/keys': [`/registry/keys?${REGISTRY}`],
  'GET /registry/values': [`/registry/values?${REGISTRY}`],
  'GET /registry/value': [`/registry/value?${REGISTRY}&name=Edition`],
  'PUT /registry/value': ['/registry/value', { ...REGISTRY_KEY, name: 'Edition', type: 'REG_SZ', data: 'Standard' }],
  'DELETE /registry/value': [`/registry/value?${REGISTRY}&name=Edition`],
  'POST /registry/key': ['/registry/key', REGISTRY_KEY],
  'DELETE /registry/key': [`/registry/key?${REGISTRY}&recursive=true`],
  'GET /eventlogs': ['/eventlogs'],
  'GET /eventlogs/{name}': ['/eventlogs/System'],
  'GET /eventlogs/{name}/events': ['/eventlogs/System/events?level=information'],
  'GET /eventlogs/{name}/events/{recordId}': ['/eventlogs/System/events/77'],
  'GET /tasks': ['/tasks'],
  'GET /tasks/{path}': [TASK],
  'GET /tasks/{path}/history': [`${TASK}/history`],
  'POST /tasks/{path}/run': [`${TASK}/run`],
  'POST /tasks/{path}/enable': [`${TASK}/enable`],
  'POST /tasks/{path}/disable': [`${TASK}/disable`],
  'GET /files': ['/files?path=C:%5CUsers'],
  'GET /files/download': ['/files/download?path=C:%5CUsers'],
};

/** The operation of the API that a key of CALLS stands for. */
const operation = (below: string) => below.replace(' ', ` ${BASE}`);

async function call(context: ExampleContext, [path, body]: [path: string, body?: object]): Promise<ExampleCall> {
  const { token } = context.tenant.orgAdmin;
  return { path: (await device(context)) + path, token, ...(body ? { body } : {}) };
}

const ENTRIES: NamedTest = {
  test: 'endpoints.test.ts',
  why: 'some leave two entries: before and after the device answers',
};
const FILES = 'requires a file that the device sends or takes, not JSON';

const example: Example = {
  make: (platform, { orgId }) =>
    platform.sql(
      `with device as (select id from devices where org_id = $1 order by id limit 1),
       call as (
         insert into tool_calls (command_id, device_id, org_id, tool, open_until)
         select gen_random_uuid(), id, $1, 'file_read', now() from device returning command_id, device_id),
       moving as (
         insert into file_transfers (command_id, device_id, org_id, direction)
         select command_id, device_id, $1, 'download' from call returning command_id)
       insert into file_transfer_chunks select command_id, 0, $1, 'x' from moving`,
      [orgId],
    ),
  calls: Object.fromEntries(
    Object.entries(CALLS).map(([below, made]) => [operation(below), (context: ExampleContext) => call(context, made)]),
  ),
  testedIn: {
    ...Object.fromEntries(
      Object.keys(CALLS)
        .filter((below) => !below.startsWith('GET'))
        .map((below) => [operation(below), ENTRIES]),
    ),
    [`POST ${BASE}/files/upload`]: { test: 'uploads.test.ts', why: FILES },
  },
  unrecorded: {
    [`GET ${BASE}/files/download`]: { test: 'transfers.test.ts', why: FILES },
    [`POST ${BASE}/files/upload`]: { test: 'uploads.test.ts', why: FILES },
    'GET /agents/{id}/transfers/{commandId}': { test: 'transfers.test.ts', why: FILES },
    'PUT /agents/{id}/transfers/{commandId}': { test: 'transfers.test.ts', why: FILES },
  },
  // The connected device sends no file.
  statuses: { [`GET ${BASE}/files/download`]: 502, 'GET /agents/{id}/transfers/{commandId}': 410 },
  withoutObject: Object.fromEntries(
    [
      '',
      '/processes/{pid}',
      '/services/{name}',
      '/eventlogs/{name}',
      '/tasks/{path}',
      '/eventlogs/{name}/events/{recordId}',
    ].map((below) => [BASE + below, 'what a device answers requires a device that is connected']),
  ),
};
export default example;
