/** The logs of macOS, against what `log` and its text files once held. */
import test from 'ava';
import type { Answer } from '../src/process/ask.ts';
import { macosEventLogs } from '../src/tools/macos/event-logs.ts';
import { parseTextLog } from '../src/tools/macos/text-log.ts';
import { literal, logArguments } from '../src/tools/macos/unified-log.ts';
import { PATIENT, recordedAsk, recording } from './recorded.ts';

const mac = (name: string): string => recording(`macos/${name}`);
const PAGE = { page: 1, limit: 50 };

function logs(
  log: string | Partial<Answer> = mac('log.ndjson'),
  tail: string | Partial<Answer> = mac('system-log.txt'),
) {
  const { ask, calls } = recordedAsk(({ program }) => {
    if (program === '/usr/bin/find') return mac('log-files.txt');
    return program === '/usr/bin/tail' ? tail : log;
  });
  return { tools: macosEventLogs(ask), calls };
}

test('the logs of macOS are the unified one and the text files', async (t) => {
  const list = await logs().tools.list(PATIENT);
  t.deepEqual(
    list.map(({ name }) => name),
    ['system', 'install.log', 'system.log'],
  );
  t.is(list[2]?.lastWriteTime, '2026-11-21T08:00:00.000Z');
});

test('the unified log is read newest first, with its levels', async (t) => {
  const { tools } = logs();
  const { items, total } = await tools.query('System', { page: 1, limit: 3 }, PATIENT);
  t.is(total, 4);
  t.deepEqual(
    items.map(({ level, source, timestamp, category }) => [level, source, timestamp, category]),
    [
      ['debug', 'Google Chrome', '2026-11-21T08:12:35.500Z', 'default'],
      ['critical', 'kernel', '2026-11-21T08:12:34.000Z', null],
      ['error', 'taskgated', '2026-11-21T08:12:34.000Z', 'default'],
    ],
  );
  t.is(items[0]?.message.length, 8_000);
  t.is(new Set(items.map(({ recordId }) => recordId)).size, 3);
});

test('an event of the unified log is found again by its id, with its details', async (t) => {
  const { tools, calls } = logs();
  const [first] = (await tools.query('system', { page: 2, limit: 3 }, PATIENT)).items;
  const event = await tools.event('system', first?.recordId ?? '', PATIENT);
  t.like(event, { message: 'started', source: 'logd' });
  t.like(event.details, { subsystem: 'com.apple.logd', processID: '88', threadID: '1234' });
  t.deepEqual(calls.at(-1)?.args.slice(-4), [
    '--start',
    '2026-11-21 08:12:32+0000',
    '--end',
    '2026-11-21 08:12:35+0000',
  ]);
  await t.throwsAsync(tools.event('system', Buffer.from('1795248753123/9/9').toString('base64url'), PATIENT), {
    code: 'NOT_FOUND',
  });
  await t.throwsAsync(tools.event('system', '%%%', PATIENT), { code: 'INVALID' });
});

test('filters become one predicate with quoted texts', (t) => {
  const now = Date.parse('2026-11-21T09:00:00Z');
  t.deepEqual(logArguments({ level: 'info', source: 'a" OR 1 == 1 OR process == "\\' }, now), [
    ...['show', '--style', 'ndjson', '--predicate'],
    'eventType == logEvent AND (messageType == default OR messageType == info) AND ' +
      '(process == "a\\" OR 1 == 1 OR process == \\"\\\\" OR subsystem == "a\\" OR 1 == 1 OR process == \\"\\\\")',
    ...['--start', '2026-11-21 08:45:00+0000', '--end', '2026-11-21 09:00:00+0000', '--info'],
  ]);
  const between = logArguments(
    { level: 'debug', startTime: '2026-11-20T00:00:00+01:00', endTime: '2026-11-20T12:00:00Z' },
    now,
  );
  t.deepEqual(between?.slice(-6), [
    '--start',
    '2026-11-19 23:00:00+0000',
    '--end',
    '2026-11-20 12:00:00+0000',
    '--info',
    '--debug',
  ]);
  t.throws(() => literal('two\nlines'), { message: /line breaks/ });
});

test('what the unified log cannot hold is not asked for', async (t) => {
  const { tools, calls } = logs();
  t.deepEqual(await tools.query('system', { ...PAGE, level: 'warning' }, PATIENT), { items: [], total: 0 });
  t.deepEqual(await tools.query('system', { ...PAGE, eventId: '7034' }, PATIENT), { items: [], total: 0 });
  t.is(calls.length, 0);
});

test('a log that is closed to the agent is denied', async (t) => {
  const denied = { code: 64, stderr: mac('log-denied.txt') };
  await t.throwsAsync(logs(denied).tools.query('system', PAGE, PATIENT), { code: 'DENIED' });
  const tail = { code: 1, stderr: 'tail: /var/log/x.log: Permission denied\n' };
  await t.throwsAsync(logs('', tail).tools.query('x.log', PAGE, PATIENT), { code: 'DENIED' });
  const absent = { code: 1, stderr: 'tail: /var/log/x.log: No such file or directory\n' };
  await t.throwsAsync(logs('', absent).tools.query('x.log', PAGE, PATIENT), { code: 'NOT_FOUND' });
});

test('only logs of the folder of logs can be named', async (t) => {
  const { tools, calls } = logs();
  for (const name of ['../../etc/passwd', '/etc/x.log', '-f.txt', 'a/b.log', 'x']) {
    await t.throwsAsync(tools.query(name, PAGE, PATIENT), { code: 'NOT_FOUND' }, name);
  }
  t.is(calls.length, 0);
});

test('lines of a text log become events, in the year in which they can lie', (t) => {
  const now = new Date('2026-11-21T12:00:00Z');
  const [first, second, third] = parseTextLog(mac('system-log.txt'), 'system.log', now);
  t.like(first, { source: 'syslogd', message: 'ASL Sender Statistics', level: 'info', computer: 'Kasse-1' });
  t.like(second, { source: 'com.apple.xpc.launchd', message: 'Service exited with abnormal code: 78' });
  t.is(new Date(third?.timestamp ?? '').getFullYear(), 2025);
  t.is(third?.level, 'warning');
});

test('a line without a time goes on with the event before it', (t) => {
  const events = parseTextLog(mac('install-log.txt'), 'install.log');
  t.is(events.length, 2);
  t.like(events[0], { timestamp: '2026-11-21T07:00:00.000Z', source: 'softwareupdated', level: 'error' });
  t.regex(events[0]?.message ?? '', /Scan failed\n\tError Domain=SUErrorDomain Code=404\n\tUserInfo=\{\}$/);
  t.like(events[1], { timestamp: '2026-11-21T11:30:05.000Z', source: 'Installer Progress' });
});

test('events of a text log are filtered and found again', async (t) => {
  const { tools, calls } = logs('', mac('install-log.txt'));
  const { items, total } = await tools.query(
    'install.log',
    { ...PAGE, source: 'SOFTWAREUPDATED', level: 'error' },
    PATIENT,
  );
  t.is(total, 1);
  const [found] = items;
  t.like(await tools.event('install.log', found?.recordId ?? '', PATIENT), { source: 'softwareupdated', details: {} });
  t.deepEqual(calls[0]?.args, ['-n', '20000', '/var/log/install.log']);
  await t.throwsAsync(tools.event('install.log', 'x', PATIENT), { code: 'NOT_FOUND' });
  const early = await tools.query('install.log', { ...PAGE, endTime: '2026-11-21T08:00:00Z' }, PATIENT);
  t.is(early.total, 1);
});
