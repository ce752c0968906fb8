/** Every endpoint of the live tools: the command for the device, the answer for the caller, and the audit entry. */
import test from 'ava';
import { startTestPlatform } from '#test';
import { bench, event, forgetCounts, log, process, service, task } from './arrange.ts';

const platform = await startTestPlatform();
const here = await bench(platform);
test.after.always(async () => {
  await here.live.close();
  await platform.stop();
});

interface Row {
  call: string;
  body?: unknown;
  type: string;
  payload: object;
  answer: object;
  audit?: string;
  target?: object;
}
const page = { page: 1, limit: 50 };
const place = { hive: 'HKEY_LOCAL_MACHINE', path: 'SOFTWARE\\A', view: '64' };
const listed = (item: object, total: number | null = 1) => ({ data: [item], pagination: { ...page, total } });
const shownEvent = {
  ...{ recordId: 77, timeCreated: event.timestamp, level: 'information', source: 'Kernel', category: 'Boot' },
  ...{ eventId: 1, message: 'Started', user: null, computer: 'pc' },
};
const ROWS: Row[] = [
  {
    call: 'GET /processes?search=back&sort=memory',
    type: 'list_processes',
    payload: { ...page, search: 'back', sort: 'memory', sortDir: 'desc' },
    answer: listed(process),
  },
  {
    call: 'GET /processes/42',
    type: 'get_process',
    payload: { pid: 42 },
    answer: { data: { ...process, openFiles: ['C:\\x'] } },
  },
  {
    call: 'POST /processes/42/kill',
    body: { force: true, expectedName: 'backup.exe', expectedStartTime: process.startTime },
    type: 'kill_process',
    payload: { pid: 42, force: true, expectedName: 'backup.exe', expectedStartTime: process.startTime },
    answer: { success: true, pid: 42 },
    audit: 'device.kill_process',
    target: { pid: 42, force: true },
  },
  {
    call: 'GET /services?status=running&limit=7',
    type: 'list_services',
    payload: { page: 1, limit: 7, status: 'running' },
    answer: { data: [service], pagination: { page: 1, limit: 7, total: 1 } },
  },
  { call: 'GET /services/Spooler', type: 'get_service', payload: { name: 'Spooler' }, answer: { data: service } },
  ...(['start', 'stop', 'restart'] as const).map((verb) => ({
    call: `POST /services/Net%20Svc%24/${verb}`,
    type: `${verb}_service`,
    payload: { name: 'Net Svc$' },
    answer: {
      start: { success: true, name: 'Net Svc$', status: 'running', note: 'It was running' },
      stop: { success: true, name: 'Net Svc$', status: 'stopped' },
      restart: { success: true, name: 'Net Svc$', status: 'running', restarted: ['Fax'] },
    }[verb],
    audit: `device.${verb}_service`,
    target: { name: 'Net Svc$' },
  })),
  {
    call: 'GET /registry/keys?hive=HKLM&path=%5CSOFTWARE%5CA%5C',
    type: 'registry_keys',
    payload: place,
    answer: { data: [{ name: 'A', path: 'SOFTWARE\\A', subKeyCount: 0, valueCount: 1, lastModified: null }] },
  },
  {
    call: 'GET /registry/values?hive=HKEY_USERS&view=32',
    type: 'registry_values',
    payload: { hive: 'HKEY_USERS', path: '', view: '32' },
    answer: { data: [{ name: '', type: 'REG_SZ', data: 'x', truncated: false }] },
  },
  {
    call: 'GET /registry/value?hive=HKCU&path=A&name=',
    type: 'registry_get',
    payload: { hive: 'HKEY_CURRENT_USER', path: 'A', view: '64', name: '' },
    answer: { data: { name: '', type: 'REG_QWORD', data: '18446744073709551615', truncated: false } },
  },
  {
    call: 'PUT /registry/value',
    body: { hive: 'HKLM', path: 'SOFTWARE\\A', name: 'Key', type: 'REG_BINARY', data: [0, 255] },
    type: 'registry_set',
    payload: { ...place, name: 'Key', type: 'REG_BINARY', data: 'AP8=' },
    answer: { success: true, before: { type: 'REG_SZ', bytes: 12 } },
    audit: 'device.set_registry_value',
    target: { ...place, name: 'Key', type: 'REG_BINARY' },
  },
  {
    call: 'DELETE /registry/value?hive=HKLM&path=SOFTWARE%5CA&name=Key',
    type: 'registry_delete',
    payload: { ...place, name: 'Key' },
    answer: { success: true },
    audit: 'device.delete_registry_value',
    target: { name: 'Key' },
  },
  {
    call: 'DELETE /registry/value?hive=HKLM',
    body: { path: 'SOFTWARE\\A', name: 'Key' },
    type: 'registry_delete',
    payload: { ...place, name: 'Key' },
    answer: { success: true },
    audit: 'device.delete_registry_value',
  },
  {
    call: 'POST /registry/key',
    body: { hive: 'HKLM', path: 'SOFTWARE\\A' },
    type: 'registry_key_create',
    payload: place,
    answer: { success: true, created: true },
    audit: 'device.create_registry_key',
  },
  {
    call: 'DELETE /registry/key?hive=HKLM&path=SOFTWARE%5CA&recursive=true',
    type: 'registry_key_delete',
    payload: { ...place, recursive: true },
    answer: { success: true },
    audit: 'device.delete_registry_key',
    target: { recursive: true },
  },
  { call: 'GET /eventlogs', type: 'event_logs_list', payload: {}, answer: { data: [log] } },
  { call: 'GET /eventlogs/sYsTeM', type: 'event_logs_list', payload: {}, answer: { data: log } },
  {
    call: 'GET /eventlogs/System/events?level=information&source=Kernel&eventId=1&startTime=2026-01-01T00:00:00Z',
    type: 'event_logs_query',
    payload: {
      log: 'System',
      ...page,
      level: 'info',
      source: 'Kernel',
      eventId: '1',
      startTime: '2026-01-01T00:00:00.000Z',
    },
    answer: listed(shownEvent, null),
  },
  {
    call: 'GET /eventlogs/System/events/77',
    type: 'event_log_get',
    payload: { log: 'System', recordId: '77' },
    answer: {
      data: { ...shownEvent, rawXml: '<Event/>', details: { category: 'Boot', more: 'yes' } },
    },
  },
  {
    call: 'GET /tasks?folder=%5CVendor&search=night',
    type: 'tasks_list',
    payload: { ...page, folder: '\\Vendor', search: 'night' },
    answer: listed(task),
  },
  { call: 'GET /tasks/%5CVendor%5CNightly', type: 'task_get', payload: { path: task.path }, answer: { data: task } },
  {
    call: 'GET /tasks/cron%3A%2Fetc%2Fcrontab',
    type: 'task_get',
    payload: { path: 'cron:/etc/crontab' },
    answer: { data: task },
  },
  { call: 'GET /tasks/-?path=/etc/x', type: 'task_get', payload: { path: '/etc/x' }, answer: { data: task } },
  {
    call: 'GET /tasks/%5CVendor%5CNightly/history?limit=999',
    type: 'task_history',
    payload: { path: task.path, limit: 200 },
    answer: { data: [{ startTime: null, endTime: null, result: '0', message: null }] },
  },
  ...(['run', 'enable', 'disable'] as const).map((verb) => ({
    call: `POST /tasks/%5CVendor%5CNightly/${verb}`,
    type: `task_${verb}`,
    payload: { path: task.path },
    answer: { success: true, path: task.path, ...(verb === 'enable' ? { note: 'It was enabled' } : {}) },
    audit: `device.${verb}_scheduled_task`,
    target: { path: task.path },
  })),
  {
    call: 'GET /files?path=C:%5CUsers&showHidden=true',
    type: 'file_list',
    payload: { path: 'C:\\Users', showHidden: true },
    answer: { path: 'C:\\Users', parent: null, entries: [], truncated: false },
  },
  {
    call: 'GET /files',
    type: 'file_list',
    payload: { path: '', showHidden: false },
    answer: { path: '', parent: null, entries: [], truncated: false },
  },
];

for (const row of ROWS) {
  test.serial(`${row.call} sends the device a command and answers with its result`, async (t) => {
    await forgetCounts(platform, here);
    here.live.seen.length = 0;
    const [method = '', path = ''] = row.call.split(' ');
    const { status, body } = await here.ask(method, path, row.body);
    t.is(status, 200, JSON.stringify(body));
    t.deepEqual(body, row.answer);
    const [command] = here.live.seen;
    t.like(command, { type: row.type, executionTimeoutSeconds: 25 });
    t.deepEqual(command?.payload, row.payload as Record<string, unknown>);
    const [stored] = await platform.sql(
      `select priority, data, run_limit_seconds, payload, deliver_by < now() + interval '61 seconds' as soon
       from device_commands where id = $1`,
      [command?.id],
    );
    t.deepEqual(stored, { priority: 10, data: null, run_limit_seconds: 300, payload: {}, soon: true });
    if (!row.audit) return;
    const entries = (await platform.audits({ action: row.audit, orgId: here.orgId })).filter(
      ({ details }) => details.commandId === command?.id,
    );
    const [entry] = entries;
    t.like(entry, {
      result: 'success',
      resource_type: 'device',
      resource_id: here.agent.deviceId,
      actor_id: here.orgAdmin.id,
    });
    t.like(entry?.details, { deviceId: here.agent.deviceId, ...row.target });
    t.false(JSON.stringify(entries).includes('AP8='), 'no data in the trail');
    t.is(entries.length, row.type === 'registry_set' ? 2 : 1);
    if (row.type === 'registry_set') t.deepEqual(entries[1]?.details.before, { type: 'REG_SZ', bytes: 12 });
  });
}

test.serial('a list in the cursor form continues from page to page', async (t) => {
  here.live.script = ({ payload }) => ({
    result: { items: [{ ...process, pid: Number(payload.page) }], total: 2 },
  });
  const first = await here.ask('GET', '/processes?cursor=&limit=1');
  t.like(first.body, { data: [{ pid: 1 }], pagination: { hasMore: true } });
  const { cursor } = first.body.pagination;
  const second = await here.ask('GET', `/processes?cursor=${cursor}&limit=1`);
  t.deepEqual(second.body.pagination, { hasMore: false, cursor: null });
  t.is(second.body.data[0].pid, 2);
  t.is((await here.ask('GET', `/services?cursor=${cursor}`)).body.error.code, 'INVALID_CURSOR');
});
