/** Scheduled tasks of Linux: timers as they were recorded, and tables of cron that are read. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { parseEntries } from '../src/tools/linux/event-logs/journal-entry.ts';
import { parseCrontab } from '../src/tools/linux/tasks/crontabs.ts';
import { linuxTasks } from '../src/tools/linux/tasks/tasks.ts';
import { parseSpan, runsOf } from '../src/tools/linux/tasks/timers.ts';
import { temporaryFolder } from './harness.ts';
import { never, recordings } from './recordings.ts';

const recorded = await readFile(new URL('recorded/linux-journal-once.jsonl', import.meta.url), 'utf8');

const TIMER = `Unit=once.service
TimersMonotonic={ OnBootUSec=15min ; next_elapse=15min }
TimersCalendar={ OnCalendar=*-*-* 00:00:00 ; next_elapse=Sun 2026-11-22 00:00:00 UTC }
NextElapseUSecRealtime=Sun 2026-11-22 00:00:00 UTC
NextElapseUSecMonotonic=infinity
LastTriggerUSec=Sat 2026-11-21 00:00:00 UTC
Id=once.timer
Description=Works daily
LoadState=loaded
ActiveState=active
UnitFileState=enabled
`;
const SERVICE = `Result=exit-code
ExecMainStartTimestamp=Sat 2026-11-21 13:20:25 UTC
ExecMainStatus=3
ExecStart={ path=/bin/sh ; argv[]=/bin/sh -c echo worked; exit 3 ; ignore_errors=no ; start_time=[Sat 2026-11-21 13:20:25 UTC] ; stop_time=[Sat 2026-11-21 13:20:25 UTC] ; pid=87 ; code=exited ; status=3 }
Id=once.service
ActiveState=failed
`;
const OFF = TIMER.replace('ActiveState=active', 'ActiveState=inactive').replace('=enabled', '=disabled');

/** A machine with systemd, a journal and tables of cron. */
async function root(t: ExecutionContext, systemd = true): Promise<string> {
  const folder = await temporaryFolder(t);
  if (systemd) await mkdir(join(folder, 'run/systemd/system'), { recursive: true });
  await mkdir(join(folder, 'var/log/journal/3d12'), { recursive: true });
  for (const [file, text] of [
    [
      'etc/crontab',
      'SHELL=/bin/sh\n# m h dom mon dow user command\n17 *\t* * *\troot\tcd / && run-parts /etc/cron.hourly\n',
    ],
    ['etc/cron.d/backup', '@daily backup /usr/bin/backup --all\n'],
    ['etc/cron.d/backup.dpkg-old', '@daily root /bin/false\n'],
    ['var/spool/cron/crontabs/anna', '*/5 * * * 1-5 /home/anna/bin/poll "a b"\n'],
  ] as const) {
    await mkdir(join(folder, dirname(file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  return folder;
}
const shown = (timer = TIMER, service = SERVICE) =>
  [
    [/^systemctl list-units/, 'once.timer loaded active waiting Works daily\n'],
    [/^systemctl list-unit-files/, 'once.timer enabled enabled\n'],
    [/^systemctl show .* once.timer$/, timer],
    [/^systemctl show .* once.service$/, service],
  ] as const;

test('timers and lines of cron are listed together, by folder and by what is searched', async (t) => {
  const tasks = linuxTasks(recordings(shown()).ask, await root(t));
  const list = async (folder: string, search?: string) =>
    (await tasks.list({ page: 1, limit: 50, folder, ...(search && { search }) }, never)).items.map(({ path }) => path);
  t.deepEqual(await list('\\'), [
    '/cron/etc/cron.d/backup#1',
    '/cron/etc/crontab#3',
    '/cron/var/spool/cron/crontabs/anna#1',
    '/systemd/once.timer',
  ]);
  t.deepEqual(await list('/systemd/'), ['/systemd/once.timer']);
  t.deepEqual(await list('\\cron\\etc'), ['/cron/etc/cron.d/backup#1', '/cron/etc/crontab#3']);
  t.deepEqual(await list('/sys'), []);
  t.deepEqual(await list('\\', 'RUN-PARTS'), ['/cron/etc/crontab#3']);
});

test('a timer comes with its triggers, what it starts, and how that ended', async (t) => {
  const tasks = linuxTasks(recordings(shown()).ask, await root(t));
  t.deepEqual(await tasks.get('/systemd/once.timer', never), {
    path: '/systemd/once.timer',
    name: 'once.timer',
    folder: '/systemd',
    state: 'ready',
    lastRunTime: '2026-11-21T13:20:25.000Z',
    lastRunResult: 'exit-code 3',
    nextRunTime: '2026-11-22T00:00:00.000Z',
    triggers: [
      { type: 'calendar', schedule: '*-*-* 00:00:00', enabled: true },
      { type: 'monotonic', schedule: 'OnBootUSec=15min', enabled: true },
    ],
    actions: [{ type: 'exec', command: '/bin/sh', arguments: '-c echo worked; exit 3' }],
    author: null,
    description: 'Works daily',
  });
  const running = linuxTasks(recordings(shown(TIMER, SERVICE.replace('failed', 'activating'))).ask, await root(t));
  t.is((await running.get('/systemd/once.timer', never)).state, 'running');
  const off = linuxTasks(recordings(shown(OFF)).ask, await root(t));
  t.is((await off.get('/systemd/once.timer', never)).state, 'disabled');
});

test('a timer is run, enabled and disabled through systemctl, and a repeat is a note', async (t) => {
  const folder = await root(t);
  const change = async (verb: 'run' | 'enable' | 'disable', timer = TIMER, service = SERVICE) => {
    const { ask, calls } = recordings([...shown(timer, service), [/^systemctl/, '']]);
    const answer = await linuxTasks(ask, folder).change('/systemd/once.timer', verb, never);
    return [answer.note, ...calls.filter((call) => !call.includes(' show '))];
  };
  const systemctl = 'systemctl --no-ask-password --no-pager';
  t.deepEqual(await change('run'), [undefined, `${systemctl} start --no-block -- once.service`]);
  t.deepEqual(await change('run', TIMER, SERVICE.replace('failed', 'active')), ['it ran already']);
  t.deepEqual(await change('enable', OFF), [undefined, `${systemctl} enable --now -- once.timer`]);
  t.deepEqual(await change('enable'), ['it was enabled already']);
  t.deepEqual(await change('disable'), [undefined, `${systemctl} disable --now -- once.timer`]);
  t.deepEqual(await change('disable', OFF), ['it was disabled already']);
  await t.throwsAsync(change('disable', TIMER.replace('=enabled', '=static')), { code: 'UNSUPPORTED' } as never);
});

test('the history of a timer is put together from what systemd wrote of each run', async (t) => {
  const { ask, calls } = recordings([...shown(), [/^journalctl/, recorded.split('\n').reverse().join('\n')]]);
  const runs = await linuxTasks(ask, await root(t)).history('/systemd/once.timer', 1, never);
  t.deepEqual(runs, [
    {
      startTime: '2026-11-21T13:20:25.525Z',
      endTime: '2026-11-21T13:20:25.528Z',
      result: 'exit-code',
      message: "once.service: Failed with result 'exit-code'.",
    },
  ]);
  t.regex(calls.at(-1) ?? '', / --lines=4 _PID=1 UNIT=once.service MESSAGE_ID=\w+/);
  t.is(runsOf(parseEntries(recorded)).length, 2);
});

test('lines of cron are read with their user and schedule; settings, comments and nonsense are none', (t) => {
  const text = 'MAILTO=root\n\n# no\n*/5 * * * 1-5 /bin/poll "a b"\n@reboot /bin/first\n1 2 3\n  0 4 * * *   root x\n';
  const own = parseCrontab(text, '/var/spool/cron/crontabs/anna', 'anna');
  t.deepEqual(
    own.map(({ path, author, triggers, actions }) => [path, author, triggers[0]?.schedule, actions[0]]),
    [
      [
        '/cron/var/spool/cron/crontabs/anna#4',
        'anna',
        '*/5 * * * 1-5',
        { type: 'exec', command: '/bin/poll', arguments: '"a b"' },
      ],
      [
        '/cron/var/spool/cron/crontabs/anna#5',
        'anna',
        '@reboot',
        { type: 'exec', command: '/bin/first', arguments: null },
      ],
      ['/cron/var/spool/cron/crontabs/anna#7', 'anna', '0 4 * * *', { type: 'exec', command: 'root', arguments: 'x' }],
    ],
  );
  const [system] = parseCrontab('17 *\t* * *\troot\tcd / && run-parts x\n', '/etc/crontab', undefined);
  t.like(system, { author: 'root', name: 'cd', folder: '/cron/etc/crontab', state: 'ready' });
  t.is(system?.triggers[0]?.schedule, '17 * * * *');
});

test('lines of cron can be read but not changed', async (t) => {
  const { ask } = recordings([]);
  const tasks = linuxTasks(ask, await root(t, false));
  const path = '/cron/etc/cron.d/backup#1';
  t.like(await tasks.get(path, never), { author: 'backup', state: 'ready' });
  for (const verb of ['run', 'enable', 'disable'] as const) {
    await t.throwsAsync(tasks.change(path, verb, never), { code: 'UNSUPPORTED' } as never);
    await t.throwsAsync(tasks.change('/cron/etc/passwd#1', verb, never), { code: 'NOT_FOUND' } as never);
  }
  for (const missing of ['/systemd/once.timer', '/systemd/../x.timer', '/systemd/--all.timer', 'x'])
    await t.throwsAsync(tasks.get(missing, never), { code: 'NOT_FOUND' } as never, missing);
});

test('the history of a line of cron is when cron began it', async (t) => {
  const entry = (second: number, message: string) =>
    JSON.stringify({ __CURSOR: `c${second}`, __REALTIME_TIMESTAMP: `179526722${second}000000`, MESSAGE: message });
  const { ask, calls } = recordings([
    [
      /^journalctl/,
      [
        entry(3, '(backup) CMD (/usr/bin/backup --all)'),
        entry(2, '(root) CMD (x)'),
        entry(1, '(CRON) INFO (No MTA)'),
      ].join('\n'),
    ],
  ]);
  const runs = await linuxTasks(ask, await root(t, false)).history('/cron/etc/cron.d/backup#1', 50, never);
  t.deepEqual(runs, [
    {
      startTime: '2026-11-21T13:20:23.000Z',
      endTime: null,
      result: null,
      message: '(backup) CMD (/usr/bin/backup --all)',
    },
  ]);
  t.regex(calls[0] ?? '', /--identifier=CRON --identifier=cron --identifier=crond$/);
});

test('without a journal there is no history', async (t) => {
  const folder = await temporaryFolder(t);
  await mkdir(join(folder, 'etc'));
  await writeFile(join(folder, 'etc/crontab'), '@daily root true\n');
  const tasks = linuxTasks(recordings([]).ask, folder);
  await t.throwsAsync(tasks.history('/cron/etc/crontab#1', 50, never), { code: 'UNSUPPORTED' } as never);
});

test('spans of time are read as systemd prints them', (t) => {
  t.is(parseSpan('58min 46.418942s'), 58 * 60_000 + 46_418.942);
  t.is(parseSpan('1d 2h'), 26 * 3_600_000);
  t.is(parseSpan('1month 1w 250ms'), 2_629_800_000 + 604_800_000 + 250);
  t.is(parseSpan('infinity'), undefined);
  t.is(parseSpan(''), undefined);
});
