/** Services: under systemd as it was recorded, and as scripts of /etc/init.d that really run. */
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { askLinux } from '../src/tools/linux/ask.ts';
import { parseHeader } from '../src/tools/linux/services/init-scripts.ts';
import { linuxServices } from '../src/tools/linux/services/services.ts';
import { ownUnits } from '../src/tools/linux/services/systemd-services.ts';
import { parseNames, parseShow, timeOf } from '../src/tools/linux/units.ts';
import { temporaryFolder } from './harness.ts';
import { never, recordings } from './recordings.ts';

const UNITS = `  cron.service                loaded    active   running Regular background program processing daemon
● nginx.service               loaded    failed   failed  A high performance web server and a reverse proxy server
  getty@tty1.service          loaded    active   running Getty on tty1
  mysql.service               not-found inactive dead    mysql.service
`;
const FILES = `cron.service                           enabled         enabled
getty@.service                         enabled         enabled
nginx.service                          enabled         enabled
telnet.service                         masked          enabled
`;
const CRON = `Id=cron.service
Requires=system.slice sysinit.target
Description=Regular background program processing daemon
LoadState=loaded
ActiveState=active
UnitFileState=enabled
ExecStart={ path=/usr/sbin/cron ; argv[]=/usr/sbin/cron -f $EXTRA_OPTS ; ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=0 ; code=(null) ; status=0/0 }
User=
`;
const NGINX = `Id=nginx.service
Requires=
Description=A high performance web server and a reverse proxy server
LoadState=loaded
ActiveState=failed
UnitFileState=enabled
User=www-data
`;
const TELNET =
  'Id=telnet.service\nDescription=telnet.service\nLoadState=masked\nActiveState=inactive\nUnitFileState=masked\n';
const MISSING = 'Id=mysql.service\nDescription=mysql.service\nLoadState=not-found\nActiveState=inactive\n';

/** A root where systemd seems to run. */
async function systemdRoot(t: ExecutionContext): Promise<string> {
  const root = await temporaryFolder(t);
  await mkdir(join(root, 'run/systemd/system'), { recursive: true });
  return root;
}
const lists = [
  [/^systemctl list-units /, UNITS],
  [/^systemctl list-unit-files /, FILES],
] as const;

test('systemctl output becomes services, without templates and without units that are only mentioned', async (t) => {
  const { ask, calls } = recordings([
    ...lists,
    [/^systemctl show .*Id,Description,LoadState,ActiveState --/, [CRON, NGINX, TELNET, MISSING].join('\n')],
    [/^systemctl show .* -- cron.service nginx.service telnet.service$/, [CRON, NGINX, TELNET].join('\n')],
  ]);
  const services = linuxServices(ask, await systemdRoot(t));
  const { items, total } = await services.list({ page: 1, limit: 50 }, never);
  t.is(total, 3);
  t.deepEqual(items[0], {
    name: 'cron',
    displayName: 'Regular background program processing daemon',
    status: 'running',
    startType: 'auto',
    account: 'root',
    description: 'Regular background program processing daemon',
    path: '/usr/sbin/cron -f $EXTRA_OPTS',
    dependencies: ['system.slice', 'sysinit.target'],
  });
  t.like(items[1], { name: 'nginx', status: 'stopped', account: 'www-data', path: null, dependencies: [] });
  t.like(items[2], { name: 'telnet', displayName: null, startType: 'disabled' });
  t.true(calls.some((call) => call.includes('getty@tty1.service')) && !calls.some((call) => call.includes('getty@.')));
});

test('services are filtered by state and by their names before they are asked for in full', async (t) => {
  const { ask, calls } = recordings([
    ...lists,
    [/^systemctl show .* -- nginx.service$/, NGINX],
    [/^systemctl show/, [CRON, NGINX, TELNET, MISSING].join('\n')],
  ]);
  const services = linuxServices(ask, await systemdRoot(t));
  const { items, total } = await services.list({ page: 1, limit: 1, status: 'stopped', search: 'PROXY' }, never);
  t.is(total, 1);
  t.deepEqual(
    items.map(({ name }) => name),
    ['nginx'],
  );
  t.true(calls.at(-1)?.endsWith('-- nginx.service'));
});

test('a service is started through systemctl as a vector, and the answer tells its state afterwards', async (t) => {
  let started = false;
  const { calls, ask } = recordings([
    [/^systemctl --no-ask-password --no-pager (start|restart) -- nginx.service$/, ''],
    [/^systemctl show .* -- nginx.service$/, NGINX],
  ]);
  const services = linuxServices(
    async (program, args, options) => {
      const answer = await ask(program, args, options);
      started ||= args.includes('start') || args.includes('restart');
      return started && args[0] === 'show' ? { ...answer, stdout: NGINX.replace('failed', 'active') } : answer;
    },
    await systemdRoot(t),
  );
  t.deepEqual(await services.change('nginx', 'start', never), { name: 'nginx', status: 'running' });
  t.like(await services.change('nginx', 'start', never), { status: 'running', note: 'it ran already' });
  t.like(await services.change('nginx.service', 'restart', never), { name: 'nginx', status: 'running' });
  t.is(calls.filter((call) => call.includes('-- nginx.service') && !call.includes('show')).length, 2);
});

test('stopping what is stopped is no fault, and restarting it says that it was stopped', async (t) => {
  const { ask } = recordings([
    [/^systemctl .*restart -- nginx.service$/, ''],
    [/^systemctl show/, NGINX],
  ]);
  const services = linuxServices(ask, await systemdRoot(t));
  t.like(await services.change('nginx', 'stop', never), { status: 'stopped', note: 'it was stopped already' });
  t.like(await services.change('nginx', 'restart', never), { note: 'it was stopped before' });
});

test('refusals of systemctl have codes', async (t) => {
  const root = await systemdRoot(t);
  const refused = (stderr: string) =>
    linuxServices(
      recordings([
        [/^systemctl show .*mysql/, MISSING],
        [/^systemctl show/, NGINX],
        [/^systemctl/, { code: 1, stderr }],
      ]).ask,
      root,
    ).change('nginx', 'start', never);
  await t.throwsAsync(refused('Failed to start nginx.service: Access denied\nSee system logs.'), {
    code: 'DENIED',
  } as never);
  await t.throwsAsync(refused('Failed to start nginx.service: Unit nginx.service is masked.'), {
    code: 'CONFLICT',
  } as never);
  await t.throwsAsync(refused('Failed to start nginx.service: Unit nginx.service not found.'), {
    code: 'NOT_FOUND',
  } as never);
  await t.throwsAsync(refused('Job for nginx.service failed because the control process exited with error code.'), {
    message: /^Job for nginx.service failed/,
  });
  const services = linuxServices(recordings([[/show/, MISSING]]).ask, root);
  await t.throwsAsync(services.get('mysql', never), { code: 'NOT_FOUND' } as never);
});

test('names that are none are refused before anything is started', async (t) => {
  const { ask, calls } = recordings([]);
  const services = linuxServices(ask, await systemdRoot(t));
  for (const name of ['', '--all', '-H host', 'a;reboot', 'a/b', '*', 'x'.repeat(300)])
    await t.throwsAsync(services.get(name, never), { code: 'INVALID' } as never, name);
  t.deepEqual(calls, []);
});

test('the control group of a process names its services', (t) => {
  t.deepEqual(ownUnits('0::/system.slice/quartermaster-agent.service\n'), ['quartermaster-agent']);
  t.deepEqual(ownUnits('1:name=systemd:/user.slice/user-0.slice/user@0.service/app.slice/qm.service\n0::/\n'), [
    'user@0',
    'qm',
  ]);
  t.deepEqual(ownUnits('0::/init.scope\n'), []);
});

test('blocks of properties, names and times are read as systemctl prints them', (t) => {
  const [first, second] = parseShow('Id=a.service\nExecStart=one\nExecStart=two=2\n\nId=b.service\nUser=\n');
  t.is(first?.get('ExecStart'), 'one\ntwo=2');
  t.is(second?.get('User'), '');
  t.deepEqual(parseNames(UNITS, '.service'), ['cron.service', 'nginx.service', 'getty@tty1.service', 'mysql.service']);
  t.is(timeOf('Sun 2024-05-05 06:00:00 UTC'), '2024-05-05T06:00:00.000Z');
  t.is(timeOf('n/a'), null);
});

const SCRIPT = `#!/bin/sh
### BEGIN INIT INFO
# Provides:          demo
# Required-Start:    $remote_fs $syslog dbus
# Short-Description: A service for trials
# Description:       Keeps a file while it runs
### END INIT INFO
mark="$(dirname "$0")/../../mark"
case "$1" in
  start) echo "HOME=$HOME" > "$mark" ;;
  stop) rm -f "$mark" ;;
  restart) "$0" stop; "$0" start ;;
  status) [ -e "$mark" ] || exit 3 ;;
  *) exit 2 ;;
esac
`;

async function initRoot(t: ExecutionContext): Promise<string> {
  const root = await temporaryFolder(t);
  const folder = join(root, 'etc/init.d');
  await mkdir(folder, { recursive: true });
  await mkdir(join(root, 'etc/rc2.d'));
  for (const [name, text, mode] of [
    ['demo', SCRIPT, 0o755],
    ['broken', '#!/bin/sh\n# status)\necho "cannot start: port in use" >&2\nexit 1\n', 0o755],
    ['forbidden', '#!/bin/sh\n# status)\n[ "$1" = status ] && exit 3\necho "not you" >&2\nexit 4\n', 0o755],
    ['silent', `#!/bin/sh\ntouch ${root}/ran\n`, 0o755],
    ['quartermaster-agent', '#!/bin/sh\n# status)\nexit 0\n', 0o755],
    ['README', 'not a script', 0o644],
    ['asleep', SCRIPT, 0o644],
  ] as const) {
    await writeFile(join(folder, name), text);
    await chmod(join(folder, name), mode);
  }
  await symlink('../init.d/demo', join(root, 'etc/rc2.d/S20demo'));
  return root;
}

test('where systemd does not run, the scripts of /etc/init.d are the services', async (t) => {
  const root = await initRoot(t);
  const services = linuxServices(askLinux, root);
  const { items } = await services.list({ page: 1, limit: 50 }, never);
  t.deepEqual(
    items.map(({ name }) => name),
    ['broken', 'demo', 'forbidden', 'quartermaster-agent', 'silent'],
  );
  t.deepEqual(items[1], {
    name: 'demo',
    displayName: 'A service for trials',
    status: 'stopped',
    startType: 'auto',
    account: 'root',
    description: 'Keeps a file while it runs',
    path: join(root, 'etc/init.d/demo'),
    dependencies: ['dbus'],
  });
  t.is(items[4]?.status, 'unknown', 'a script that knows no status is not asked for it');
  t.is((await services.list({ page: 1, limit: 50, status: 'running' }, never)).total, 1);
});

test('a script of /etc/init.d is started, restarted and stopped, each time with its state afterwards', async (t) => {
  const services = linuxServices(askLinux, await initRoot(t));
  t.deepEqual(await services.change('demo', 'start', never), { name: 'demo', status: 'running' });
  t.like(await services.change('demo', 'start', never), { status: 'running', note: 'it ran already' });
  t.deepEqual(await services.change('demo', 'restart', never), { name: 'demo', status: 'running' });
  t.deepEqual(await services.change('demo', 'stop', never), { name: 'demo', status: 'stopped' });
});

test('a script that fails says why, and the agent does not stop itself', async (t) => {
  const services = linuxServices(askLinux, await initRoot(t));
  await t.throwsAsync(services.change('broken', 'start', never), { message: 'cannot start: port in use' });
  await t.throwsAsync(services.change('forbidden', 'start', never), { code: 'DENIED' } as never);
  await t.throwsAsync(services.change('nowhere', 'start', never), { code: 'NOT_FOUND' } as never);
  for (const verb of ['stop', 'restart'] as const)
    await t.throwsAsync(services.change('quartermaster-agent', verb, never), { code: 'PROTECTED' } as never);
});

test('a script without a header has no title', (t) => {
  t.deepEqual(parseHeader('#!/bin/sh\n'), { title: null, description: null, requires: [] });
});

test('a program that is not installed is UNSUPPORTED, and one that takes too long TIMEOUT', async (t) => {
  await t.throwsAsync(askLinux('no-such-program-here', [], { signal: never }), { code: 'UNSUPPORTED' } as never);
  const stop = new AbortController();
  const slow = askLinux('sleep', ['300'], { signal: stop.signal });
  stop.abort();
  await t.throwsAsync(slow, { code: 'TIMEOUT' } as never);
});
