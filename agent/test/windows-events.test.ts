/** Event logs and scheduled tasks of Windows, against what PowerShell once printed. */
import test from 'ava';
import { windowsEventLogs } from '../src/tools/windows/event-logs.ts';
import { windowsTasks } from '../src/tools/windows/tasks.ts';
import { literal } from '../src/tools/windows/xpath.ts';
import { PATIENT, recordedAsk, recording, scriptOf } from './recorded.ts';

const win = (name: string): string => recording(`windows/${name}`);
const PAGE = { page: 1, limit: 50 };

function eventLogs(answers: Record<string, string> = {}) {
  const { ask, calls } = recordedAsk((call) => {
    const script = scriptOf(call);
    if (script.includes('-ListLog')) return win('event-logs.json');
    if (script.includes('GetLogInformation')) return win('event-count.json');
    return win(answers.query ?? 'events.json');
  });
  const asked = (n = 0): Record<string, unknown> => JSON.parse(calls[n]?.input ?? '{}');
  return { tools: windowsEventLogs(ask), calls, asked };
}

test('event logs and events of Windows are read, and a whole log is counted', async (t) => {
  const { tools } = eventLogs();
  t.deepEqual((await tools.list(PATIENT))[0], {
    name: 'System',
    displayName: 'System',
    recordCount: 31544,
    maxSize: 20971520,
    retentionDays: null,
    lastWriteTime: '2026-11-21T08:59:58.120Z',
  });
  const { items, total } = await tools.query('System', PAGE, PATIENT);
  t.is(total, 31544);
  t.deepEqual(
    items.map(({ recordId, level, eventId, category }) => [recordId, level, eventId, category]),
    [
      ['31544', 'error', '7034', null],
      ['31543', 'info', '16', 'Energieverwaltung'],
      ['31542', 'info', '6013', '3'],
    ],
  );
  t.regex(items[0]?.message ?? '', /beendet\. Dies ist bereits 1 Mal vorgekommen\.$/);
  t.is(items[2]?.message.length, 8_000);
  t.is(items[1]?.user, 'NT-AUTORITÄT\\SYSTEM');
});

test('filters become one XPath with quoted texts, and a filtered log is not counted', async (t) => {
  const { tools, asked } = eventLogs();
  const filter = {
    level: 'info',
    source: "O'Brien",
    eventId: '0016',
    startTime: '2026-11-20T00:00:00+01:00',
    endTime: '2026-11-21T00:00:00Z',
  } as const;
  t.is((await tools.query('System', { page: 3, limit: 10, ...filter }, PATIENT)).total, null);
  t.deepEqual(asked(), {
    log: 'System',
    xpath: `*[System[Provider[@Name="O'Brien"] and (Level=0 or Level=4) and (EventID=16) and TimeCreated[@SystemTime>='2026-11-19T23:00:00.000Z' and @SystemTime<='2026-11-21T00:00:00.000Z']]]`,
    skip: 20,
    limit: 10,
    details: false,
  });
  t.is(literal(`x'] or *[`), `"x'] or *["`);
  t.throws(() => literal(`both ' and "`), { message: /both kinds of quotes/ });
  await t.throwsAsync(tools.query('System', { ...PAGE, eventId: '1 or 1=1' }, PATIENT), { code: 'INVALID' });
});

test('one event of Windows comes with its data, and only a number names one', async (t) => {
  const { tools, asked } = eventLogs({ query: 'event.json' });
  const event = await tools.event('System', '31544', PATIENT);
  t.deepEqual(event.details, { param1: 'Druckwarteschlange', 2: '1' });
  t.is(asked().xpath, '*[System[(EventRecordID=31544)]]');
  await t.throwsAsync(tools.event('System', "1' or '1", PATIENT), { code: 'INVALID' });
  await t.throwsAsync(eventLogs({ query: 'nothing.json' }).tools.event('System', '7', PATIENT), { code: 'NOT_FOUND' });
  await t.throwsAsync(eventLogs({ query: 'fault-log-german.json' }).tools.query('Sytem', PAGE, PATIENT), {
    code: 'NOT_FOUND',
  });
});

function tasks(answer: string) {
  const { ask, calls } = recordedAsk(() => win(answer));
  return { tools: windowsTasks(ask), asked: (): Record<string, unknown> => JSON.parse(calls[0]?.input ?? '{}') };
}

test('tasks of Windows come with state, times, triggers and actions', async (t) => {
  const { items, total } = await tasks('tasks.json').tools.list({ ...PAGE, folder: '\\' }, PATIENT);
  t.is(total, 3);
  const [backup, defrag, never] = items;
  t.like(backup, {
    path: '\\Backup',
    name: 'Backup',
    folder: '\\',
    state: 'running',
    lastRunResult: '267009',
    nextRunTime: '2026-11-22T02:00:00.000Z',
  });
  t.deepEqual(backup?.triggers, [
    { type: 'daily', schedule: 'daily at 03:00 every 1h30m', enabled: true },
    { type: 'weekly', schedule: 'every 2 weeks on Mon, Fri at 03:30', enabled: true },
    { type: 'monthly', schedule: 'monthly on day 1, last at 04:00', enabled: true },
    { type: 'monthly', schedule: 'monthly on the first Mon in Jan, Mar at 04:00', enabled: true },
    { type: 'time', schedule: 'once at 2026-12-24 12:00', enabled: false },
    { type: 'boot', schedule: 'boot after 5m', enabled: true },
    { type: 'logon', schedule: 'logon of KASSE-1\\Jürgen', enabled: true },
    { type: 'other', schedule: 'other', enabled: true },
  ]);
  t.deepEqual(backup?.actions[0], { type: 'exec', command: 'C:\\Backup\\run.cmd', arguments: null });
  t.like(backup?.actions[1], { type: 'com', command: '{0358B920-0AC7-461F-98F4-58E32CD89148}' });
  t.like(defrag, { folder: '\\Microsoft\\Windows\\Defrag', state: 'ready', lastRunResult: '0' });
  t.like(never, { state: 'disabled', lastRunTime: null, lastRunResult: null, nextRunTime: null });
});

test('a task of Windows is named by folder and name, which reach PowerShell as data', async (t) => {
  const { tools, asked } = tasks('nothing.json');
  t.deepEqual(await tools.change("\\Über'$(x)\\Back`up", 'run', PATIENT), {});
  t.deepEqual(asked(), { folder: "\\Über'$(x)", name: 'Back`up', verb: 'run' });
  t.deepEqual(await tasks('task-note.json').tools.change('\\Backup', 'enable', PATIENT), {
    note: 'The task was enabled already',
  });
  await t.throwsAsync(tools.get('\\a\\..\\b', PATIENT), { code: 'INVALID' });
  await t.throwsAsync(tools.get('\\', PATIENT), { code: 'INVALID' });
  await t.throwsAsync(tasks('fault-task-german.json').tools.get('\\Absent', PATIENT), { code: 'NOT_FOUND' });
  await t.throwsAsync(tasks('fault-task-disabled.json').tools.change('\\Off', 'run', PATIENT), { code: 'CONFLICT' });
  await t.throwsAsync(tasks('fault-conflict.json').tools.change('\\Off', 'run', PATIENT), { code: 'CONFLICT' });
});

test('the history of a task is put together from the events of each run', async (t) => {
  const { tools, asked } = tasks('task-events.json');
  t.deepEqual(await tools.history('Backup', 5, PATIENT), [
    { startTime: '2026-11-21T02:00:00.200Z', endTime: '2026-11-21T02:10:00.500Z', result: '2147942401', message: null },
    {
      startTime: '2026-11-20T02:00:00.000Z',
      endTime: '2026-11-20T02:00:00.100Z',
      result: '2147942402',
      message: 'Die Aktion konnte nicht gestartet werden.',
    },
  ]);
  t.like(asked(), {
    log: 'Microsoft-Windows-TaskScheduler/Operational',
    xpath: "*[EventData[Data[@Name='TaskName']='\\Backup']]",
  });
  t.is((await tasks('task-events.json').tools.history('\\Backup', 1, PATIENT)).length, 1);
});
