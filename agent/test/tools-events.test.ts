/** Event logs of Linux: the journal as it was recorded, and the files of syslog where there is none. */
import { mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { linuxEventLogs } from '../src/tools/linux/event-logs/event-logs.ts';
import { detailsOf, levelOf, parseEntries, prioritiesOf, toItem } from '../src/tools/linux/event-logs/journal-entry.ts';
import { parseSyslogLine } from '../src/tools/linux/event-logs/syslog.ts';
import { temporaryFolder } from './harness.ts';
import { never, recordings } from './recordings.ts';

const recorded = await readFile(new URL('recorded/linux-journal-once.jsonl', import.meta.url), 'utf8');

async function journalRoot(t: ExecutionContext): Promise<string> {
  const root = await temporaryFolder(t);
  await mkdir(join(root, 'run/log/journal/3d1219c7c4c5404aaa1f6d2a48adfda4'), { recursive: true });
  return root;
}

test('an entry of the journal becomes an event', (t) => {
  const [first, , , failure] = parseEntries(recorded);
  t.deepEqual(first && toItem(first), {
    recordId:
      's=6bb2752fee094a049c0a1fba2fb74ae9;i=15f;b=349ec60cd8f14cc9bc32738d3c983fba;m=a54ee1ab;t=660c9392db9b3;x=4e718e86e50962c1',
    timestamp: '2026-11-21T13:20:24.254Z',
    level: 'info',
    source: 'systemd',
    category: null,
    eventId: '7d4958e842da4a758f6c1cdc7b36dcc5',
    message: 'Starting once.service - Works once...',
    computer: 'vm',
    user: '0',
  });
  t.like(failure && toItem(failure), { level: 'warning', message: "once.service: Failed with result 'exit-code'." });
});

test('odd entries: bytes instead of text, a field twice, no message, a long one, and a line that was cut', (t) => {
  const base = { __CURSOR: 'c', __REALTIME_TIMESTAMP: '1795267224254899' };
  const item = (more: object) => toItem({ ...base, ...more });
  t.is(item({ MESSAGE: [103, 114, 195, 188, 195, 159] })?.message, 'grüß');
  t.is(item({ SYSLOG_IDENTIFIER: ['one', 'two'] })?.source, 'one');
  t.like(item({}), { message: '', source: 'journal', eventId: null, level: 'info', computer: null });
  t.deepEqual(
    [undefined, '0', '10', '13', '23', '24', 'x'].map((number) => item({ SYSLOG_FACILITY: number })?.category),
    [null, 'kern', 'authpriv', null, 'local7', null, null],
  );
  t.is(item({ MESSAGE: 'x'.repeat(20_000) })?.message.length, 8_000);
  t.is(toItem({ MESSAGE: 'no cursor' }), undefined);
  t.deepEqual(parseEntries('{"MESSAGE":"a"}\n{"MESSAGE":"b…[truncated 7 bytes]\n-- Reboot --\n'), [{ MESSAGE: 'a' }]);
  t.deepEqual(detailsOf({ __CURSOR: 'c', MESSAGE: 'm', _PID: '7', CODE: null }), { _PID: '7' });
});

test('priorities and levels fit together', (t) => {
  const levels = ['critical', 'error', 'warning', 'info', 'debug'] as const;
  for (const level of levels) {
    const [from, to] = prioritiesOf(level).split('..').map(Number);
    t.deepEqual([levelOf(from), levelOf(to)], [level, level]);
  }
});

test('the journal is offered whole, by kind, and by the units that wrote into it', async (t) => {
  const { ask } = recordings([
    [/--lines=1 SYSLOG_FACILITY=4 SYSLOG_FACILITY=10$/, { code: 1 }],
    [/--lines=1/, recorded.split('\n')[0] ?? ''],
    [/--field=_SYSTEMD_UNIT$/, 'ssh.service\ncron.service\ninit.scope\n'],
  ]);
  const list = await linuxEventLogs(ask, await journalRoot(t)).list(never);
  t.deepEqual(
    list.map(({ name, lastWriteTime }) => [name, lastWriteTime]),
    [
      ['system', '2026-11-21T13:20:24.254Z'],
      ['kernel', '2026-11-21T13:20:24.254Z'],
      ['auth', null],
      ['cron.service', null],
      ['init.scope', null],
      ['ssh.service', null],
    ],
  );
});

test('filters become arguments, newest first, and the page is cut out of what came', async (t) => {
  const { ask, calls } = recordings([[/^journalctl/, recorded]]);
  const logs = linuxEventLogs(ask, await journalRoot(t));
  const query = {
    page: 2,
    limit: 4,
    level: 'error' as const,
    source: "x'; reboot",
    startTime: '2026-11-21T13:20:24.254Z',
    endTime: '2026-11-21T14:00:00.000Z',
    eventId: 'd9b373ed55a64feb8242e02dbe79a49c',
  };
  const { items, total } = await logs.query('KERNEL', query, never);
  t.regex(
    calls[0] ?? '',
    / --reverse --lines=8 _TRANSPORT=kernel --priority=3\.\.3 --identifier=x'; reboot --since=@1795267224\.254 --until=@1795269600 MESSAGE_ID=d9b373ed55a64feb8242e02dbe79a49c$/,
  );
  t.is(items[0]?.message, String(parseEntries(recorded)[4]?.MESSAGE));
  t.is(total, null, 'there may be more than were asked for');
  const last = await logs.query('once.service', { page: 1, limit: 50 }, never);
  t.is(last.total, 10);
  t.true(calls[1]?.endsWith('--unit=once.service'));
});

test('one event is found again by its id, with all that the journal knows of it', async (t) => {
  const { ask, calls } = recordings([[/^journalctl/, recorded]]);
  const logs = linuxEventLogs(ask, await journalRoot(t));
  const [, , , entry] = parseEntries(recorded);
  const id = String(entry?.__CURSOR);
  const event = await logs.event('system', id, never);
  t.is(event.recordId, id);
  t.like(event.details, { UNIT: 'once.service', UNIT_RESULT: 'exit-code' });
  t.true(calls[0]?.endsWith('--since=@1795267224.256596 --until=@1795267224.256596'));
  await t.throwsAsync(logs.event('system', id.replace('x=c', 'x=d'), never), { code: 'NOT_FOUND' } as never);
  await t.throwsAsync(logs.event('system', '--all', never), { code: 'INVALID' } as never);
});

test('logs that are none, pages too deep and a journal that is closed are refused', async (t) => {
  const closed = recordings([
    [/^journalctl/, { code: 1, stderr: 'No journal files were opened due to insufficient permissions.' }],
  ]);
  const logs = linuxEventLogs(closed.ask, await journalRoot(t));
  for (const name of ['nothing', '--all', '*.service', '../x.service', 'a b.service'])
    await t.throwsAsync(logs.query(name, { page: 1, limit: 1 }, never), { code: 'NOT_FOUND' } as never, name);
  await t.throwsAsync(logs.query('system', { page: 1_000, limit: 500 }, never), { code: 'INVALID' } as never);
  t.deepEqual(closed.calls, []);
  await t.throwsAsync(logs.query('system', { page: 1, limit: 1 }, never), { code: 'DENIED' } as never);
});

test('lines of syslog are read in both forms of their time', (t) => {
  const written = new Date('2026-01-03T00:00:00Z');
  t.deepEqual(
    parseSyslogLine('2026-01-02T10:00:00.5+01:00 web sshd[812]: Accepted publickey for root: RSA x', written),
    {
      timestamp: '2026-01-02T09:00:00.500Z',
      level: 'info',
      source: 'sshd',
      eventId: null,
      message: 'Accepted publickey for root: RSA x',
      computer: 'web',
      user: null,
    },
  );
  const short = parseSyslogLine('Dec 31 23:59:58 web kernel: [1.0] eth0: up', written);
  t.is(short?.timestamp, new Date(2025, 11, 31, 23, 59, 58).toISOString());
  t.like(short, { source: 'kernel', message: '[1.0] eth0: up' });
  t.is(
    parseSyslogLine('Jan  2 03:04:05 web CRON[7]: x', written)?.timestamp,
    new Date(2026, 0, 2, 3, 4, 5).toISOString(),
  );
  t.is(parseSyslogLine('    a line that goes on', written), undefined);
});

async function syslogRoot(t: ExecutionContext): Promise<string> {
  const root = await temporaryFolder(t);
  const folder = join(root, 'var/log');
  await mkdir(join(folder, 'journal'), { recursive: true });
  const lines = Array.from({ length: 30 }, (_, n) => {
    const second = String(n).padStart(2, '0');
    return `2026-01-02T10:00:${second}Z web ${n % 2 ? 'cron' : 'sshd'}[1]: event ${n}`;
  });
  await writeFile(join(folder, 'syslog'), `${lines.join('\n')}\n`);
  await writeFile(join(folder, 'auth.log'), '');
  await writeFile(join(folder, 'secret-program.log'), 'x');
  await utimes(join(folder, 'syslog'), new Date(0), new Date('2026-01-02T11:00:00Z'));
  return root;
}

test('without a journal the files of syslog are the logs', async (t) => {
  const logs = linuxEventLogs(recordings([]).ask, await syslogRoot(t));
  const list = await logs.list(never);
  t.deepEqual(
    list.map(({ name }) => name),
    ['auth.log', 'syslog'],
  );
  t.is(list[1]?.lastWriteTime, '2026-01-02T11:00:00.000Z');
  const { items, total } = await logs.query('Syslog', { page: 2, limit: 5, source: 'cron' }, never);
  t.is(total, 15);
  t.deepEqual(
    items.map(({ message }) => message),
    ['event 19', 'event 17', 'event 15', 'event 13', 'event 11'],
  );
  const within = { startTime: '2026-01-02T10:00:05.000Z', endTime: '2026-01-02T10:00:06.000Z' };
  t.is((await logs.query('syslog', { page: 1, limit: 50, ...within }, never)).total, 2);
  t.is((await logs.query('syslog', { page: 1, limit: 50, level: 'error' }, never)).total, 0);
  t.is((await logs.query('auth.log', { page: 1, limit: 50 }, never)).total, 0);
  const event = await logs.event('syslog', items[0]?.recordId ?? '', never);
  t.is(event.message, 'event 19');
  await t.throwsAsync(logs.event('syslog', '1-1', never), { code: 'NOT_FOUND' } as never);
  for (const name of ['secret-program.log', '../../etc/passwd', 'messages'])
    await t.throwsAsync(logs.query(name, { page: 1, limit: 1 }, never), { code: 'NOT_FOUND' } as never, name);
});

test('of a large file only the end is read, and the total is not claimed', async (t) => {
  const root = await syslogRoot(t);
  const line = `2026-01-02T10:00:00Z web big[1]: ${'x'.repeat(1_000)}\n`;
  await writeFile(join(root, 'var/log/messages'), `${line.repeat(9_000)}2026-01-02T10:00:01Z web big[1]: the last\n`);
  const { items, total } = await linuxEventLogs(recordings([]).ask, root).query(
    'messages',
    { page: 1, limit: 2 },
    never,
  );
  t.is(total, null);
  t.is(items[0]?.message, 'the last');
});
