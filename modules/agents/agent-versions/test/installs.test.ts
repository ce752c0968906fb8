/** The scripts that technicians pipe into sh, run below a root folder of their own. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { systemUser, tenant } from '#test';
import { signFolder } from '../../../../agent/signing/folder.ts';
import { newAgent, signer, startLocal, sync } from './ground.ts';

const run = promisify(execFile);
const { test: platform, folder } = await startLocal();
const admin = await systemUser(platform);
test.after.always(() => platform.stop());

/** A stand-in for the agent: writes down how it was called, and a state file as enrolling does. */
const agentOf = (version: string, says = version) => `#!/bin/sh
if [ "$1" = version ]; then echo '${says}'; exit 0; fi
here=$(dirname "$0")
echo "${version} $*" >>"${'$'}{CALLS:-$here/calls}"
while [ $# -gt 0 ]; do
  case $1 in
    --state) state=$2 ;;
    --key-file) echo "key in file: $(cat "$2"), mode $(stat -c %a "$2")" >>"$here/calls" ;;
    --secret-file) echo "secret in file: $(cat "$2")" >>"$here/calls" ;;
  esac
  shift
done
env >>"$here/calls-env"
echo '{}' >"$state"
`;
const ALL = ['agent', 'watchdog'].flatMap((name) => [`${name}-linux-amd64`, `${name}-linux-arm64`]);
const release = async (version: string, { says = version, names = ALL } = {}) => {
  const place = join(folder, version);
  await mkdir(place, { recursive: true });
  for (const name of names) await writeFile(join(place, name), agentOf(version, says));
  await signFolder(place, { version, ...signer });
  await sync(platform, admin.token, version);
};
const text = async (name: string) => {
  const answer = await fetch(`${platform.url}/api/v1/agents/${name}`);
  return { type: answer.headers.get('content-type') ?? '', body: await answer.text() };
};
const sh = async (root: string, script: string, args: string[], env: Record<string, string> = {}) => {
  const file = join(root, 'script.sh');
  await writeFile(file, script);
  const path = process.env.PATH ?? '';
  return run('/bin/sh', [file, ...args], { env: { PATH: path, PREFIX: join(root, 'root'), ...env } }).then(
    ({ stdout }) => ({ code: 0, said: stdout }),
    (error: { code: number; stderr: string }) => ({ code: error.code, said: error.stderr }),
  );
};
const newRoot = () => mkdtemp(join(tmpdir(), 'agent-root-'));
const FOLDER = 'root/usr/local/lib/quartermaster-agent';
const PROGRAM = `${FOLDER}/agent`;
const WATCHDOG = `${FOLDER}/watchdog`;
const UNITS = 'root/etc/systemd/system';
const UNIT = `${UNITS}/quartermaster-agent.service`;
const STATE = 'root/var/lib/quartermaster-agent/state.json';
const calls = (root: string) => readFile(join(root, FOLDER, 'calls'), 'utf8');

test.serial(
  'the script installs, enrolls and sets up the services; a second run upgrades without enrolling',
  async (t) => {
    await release('1.0.0');
    const script = await text('install.sh');
    t.regex(script.type, /text\/x-shellscript/);
    t.regex(script.body, /^#!\/bin\/sh\n/);
    t.true(script.body.includes("server='http://localhost:3000'"), 'the script has the URL of this server');
    const root = await newRoot();
    const args = [
      '--server',
      `${platform.url}/`,
      '--token',
      'KEY',
      '--enrollment-secret',
      'S3',
      '--device-role',
      'server',
    ];
    const done = await sh(root, script.body, args);
    t.is(done.code, 0, done.said);
    t.regex(done.said, /1\.0\.0 is installed/);
    for (const program of [PROGRAM, WATCHDOG]) t.is((await stat(join(root, program))).mode & 0o777, 0o755);
    const [enrolled = '', key, secret] = (await calls(root)).split('\n');
    const asked = `1.0.0 enroll --server ${platform.url} --state ${join(root, STATE)} --key-file `;
    t.true(enrolled.startsWith(asked) && enrolled.endsWith('--device-role server'), enrolled);
    t.notRegex(enrolled, /KEY|S3/, 'arguments of a child can be read by everybody');
    t.deepEqual([key, secret], ['key in file: KEY, mode 600', 'secret in file: S3']);
    const unit = await readFile(join(root, UNIT), 'utf8');
    t.true(unit.includes(`ExecStart="${join(root, PROGRAM)}" run --supervised --state "${join(root, STATE)}"`));
    t.regex(unit, /^Restart=always$/m);
    const other = await readFile(join(root, UNITS, 'quartermaster-watchdog.service'), 'utf8');
    t.true(other.includes(`"${join(root, WATCHDOG)}" watchdog --service quartermaster-agent --supervised`));
    t.is((await stat(join(root, STATE))).mode & 0o077, 0);
    t.deepEqual(
      (await readdir(join(root, FOLDER))).sort(),
      ['agent', 'calls', 'calls-env', 'watchdog'],
      'no key is left',
    );
    await release('1.1.0');
    t.is((await sh(root, script.body, ['--server', platform.url])).code, 0);
    t.is(await calls(root), `${enrolled}\n${key}\n${secret}\n`, 'it keeps its identity');
    t.true((await readFile(join(root, PROGRAM), 'utf8')).includes('1.1.0'));
    await rm(root, { recursive: true });
  },
);

test.serial('the key may come from the environment or a file, and only the enrollment receives it', async (t) => {
  const { body } = await text('install.sh');
  for (const by of ['environment', 'file'] as const) {
    const root = await newRoot();
    const file = join(root, 'key');
    await writeFile(file, 'HIDDEN');
    const args = ['--server', platform.url, ...(by === 'file' ? ['--token-file', file] : [])];
    const done = await sh(root, body, args, by === 'file' ? {} : { AGENT_TOKEN: 'HIDDEN' });
    t.is(done.code, 0, done.said);
    t.regex(await calls(root), /key in file: HIDDEN/);
    t.notRegex(await readFile(join(root, FOLDER, 'calls-env'), 'utf8'), /HIDDEN/);
    await rm(root, { recursive: true });
  }
});

test.serial('power commands are on unless the installer is told otherwise, which later runs keep', async (t) => {
  const { body } = await text('install.sh');
  const root = await newRoot();
  const started = async (...args: string[]) => {
    t.is((await sh(root, body, ['--server', platform.url, '--token', 'K', ...args])).code, 0);
    return /ExecStart=.*/.exec(await readFile(join(root, UNIT), 'utf8'))?.[0].endsWith('.json" --no-power');
  };
  t.false(await started());
  t.true(await started('--no-power'));
  t.true(await started());
  t.false(await started('--power'));
  await rm(root, { recursive: true });
});

test.serial('a program with another checksum is not installed, and wrong usage is explained', async (t) => {
  const { body } = await text('install.sh');
  const root = await newRoot();
  t.regex((await sh(root, body, ['--server', platform.url])).said, /an enrollment key is needed/);
  t.regex((await sh(root, body, ['--wrong'])).said, /unknown option --wrong/);
  t.regex((await sh(root, body, ['--token'])).said, /--token needs a value/);
  t.regex((await sh(root, body, ['--server', 'http://127.0.0.1:9', '--token', 'K'])).said, /has no agent for/);
  for (const name of ALL) {
    const file = join(folder, '1.1.0', name);
    const bytes = await readFile(file, 'utf8');
    await writeFile(file, bytes.replace('echo', 'ECHO'));
    await chmod(file, 0o644);
  }
  const refused = await sh(root, body, ['--server', platform.url, '--token', 'K']);
  t.not(refused.code, 0);
  t.regex(refused.said, /another checksum/);
  await t.throwsAsync(stat(join(root, FOLDER)), undefined, 'nothing is left');
  await rm(root, { recursive: true });
});

test.serial('a program that does not run does not replace the installed one', async (t) => {
  const { body } = await text('install.sh');
  await release('1.2.0');
  const root = await newRoot();
  t.is((await sh(root, body, ['--server', platform.url, '--token', 'K'])).code, 0);
  await release('1.3.0', { says: 'something else' });
  const refused = await sh(root, body, ['--server', platform.url]);
  t.regex(refused.said, /cannot run the agent/);
  t.true((await readFile(join(root, PROGRAM), 'utf8')).includes('1.2.0'));
  await rm(root, { recursive: true });
});

test.serial('the uninstall script removes what the install script created', async (t) => {
  await release('1.4.0');
  const root = await newRoot();
  const install = await text('install.sh');
  t.is((await sh(root, install.body, ['--server', platform.url, '--token', 'K'])).code, 0);
  const { body } = await text('uninstall.sh');
  t.regex((await sh(root, body, ['--wrong'])).said, /unknown option/);
  const log = join(root, 'calls');
  const kept = await sh(root, body, ['--keep-state'], { CALLS: log });
  t.is(kept.code, 0);
  t.is(await readFile(log, 'utf8'), `1.4.0 uninstall --state ${join(root, STATE)}\n`, 'the server is told');
  t.notRegex(kept.said, /was not told/);
  for (const path of [FOLDER, UNIT, `${UNITS}/quartermaster-watchdog.service`]) {
    await t.throwsAsync(stat(join(root, path)), undefined, path);
  }
  t.truthy(await stat(join(root, STATE)));
  const again = await sh(root, body, []);
  t.is(again.code, 0);
  t.regex(again.said, /The server was not told/);
  await t.throwsAsync(stat(join(root, STATE)));
  await rm(root, { recursive: true });
});

function wellFormed(t: ExecutionContext, body: string): void {
  // Without comments and strings every bracket closes what was opened last.
  const code = body
    .replace(/<#[\s\S]*?#>/g, '')
    .replace(/'[^']*'/g, "''")
    .replace(/"(`.|[^"`])*"/g, '""')
    .replace(/#.*$/gm, '');
  const open: string[] = [];
  for (const sign of code.replace(/[^()[\]{}]/g, '')) {
    if ('([{'.includes(sign)) open.push(sign);
    else t.is(`${open.pop()}${sign}`, { ')': '()', ']': '[]', '}': '{}' }[sign] ?? '');
  }
  t.deepEqual(open, []);
}

test.serial('the scripts for Windows name this server, hide its secrets and are well formed', async (t) => {
  const removal = await text('uninstall.ps1');
  t.regex(removal.type, /^text\/plain/);
  wellFormed(t, removal.body);
  t.true(removal.body.indexOf('& $agent uninstall') < removal.body.indexOf('Unregister-ScheduledTask'));
  const { type, body } = await text('install.ps1');
  t.regex(type, /^text\/plain/);
  t.true(body.includes("[string]$Server = 'http://localhost:3000'"));
  t.notRegex(body, /@SERVER@/);
  // What it starts: an argument that holds a secret would be read by others.
  const started = body.split('\n').filter((line) => /^\s*(& |\$arguments)/.test(line));
  t.true(started.length >= 4);
  for (const line of started) t.notRegex(line, /\$Token|\$Secret\b/, line);
  t.regex(body, /Get-FileHash -Algorithm SHA256[^\n]*-ne \$latest\.checksum/);
  t.true(body.indexOf('Get-FileHash') < body.indexOf("Set-Program 'agent'"), 'verified before it is installed');
  t.regex(body, /watchdog --program `"\$agent`" --supervised --state `"\$state`"/);
  wellFormed(t, body);
});

/** A server under a URL that is known before the platform behind it starts. */
async function inFront(t: ExecutionContext, behind: () => string): Promise<string> {
  const server = createServer((request, response) => {
    const { method = 'GET', headers } = request;
    const onward = forward(`${behind()}${request.url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.serial('the command of a provisioned Linux device installs the agent and enrolls that device', async (t) => {
  let url = '';
  const publicUrl = await inFront(t, () => url);
  const own = await startLocal({ PUBLIC_URL: publicUrl });
  t.teardown(() => own.test.stop());
  url = own.test.url;
  const place = join(own.folder, '1.0.0');
  await mkdir(place, { recursive: true });
  // The real agent, from its sources.
  const main = join(import.meta.dirname, '../../../../agent/src/main.ts');
  const program = `#!/bin/sh\n[ "$1" = version ] && echo 1.0.0 && exit\nexec '${process.execPath}' '${main}' "$@"\n`;
  for (const name of ALL) await writeFile(join(place, name), program);
  await signFolder(place, { version: '1.0.0', ...signer });
  await sync(own.test, (await systemUser(own.test)).token);

  const at = await tenant(own.test);
  const provision = async (osType: string) =>
    (
      await own.test.call<{ deviceId: string; enrollment: { token: string; installCommand: string } }>(
        'POST',
        '/devices/provision',
        { token: at.partner.token, body: { hostname: `desk-${osType}`, osType, orgId: at.orgId, siteId: at.siteId } },
      )
    ).body;
  const { deviceId, enrollment } = await provision('linux');
  const root = await newRoot();
  t.teardown(() => rm(root, { recursive: true }));
  // Writes down the arguments that other users would see.
  await writeFile(join(root, 'sudo'), `#!/bin/sh\necho "$*" >>'${root}/sudo-calls'\nshift\nexec "$@"\n`, {
    mode: 0o755,
  });
  const env = { PATH: `${root}:${process.env.PATH}`, PREFIX: join(root, 'root') };
  const wrong = enrollment.installCommand.replace(/[0-9a-f]{64} {2}/, `${'0'.repeat(64)}  `);
  await t.throwsAsync(run('/bin/sh', ['-c', wrong], { env }), undefined, 'a script with another checksum does not run');
  t.notRegex(enrollment.installCommand, /\n/);
  await run('/bin/sh', ['-c', enrollment.installCommand], { env });
  const calls = await readFile(join(root, 'sudo-calls'), 'utf8');
  t.regex(calls, /^--preserve-env=AGENT_TOKEN sh \S+\n$/);
  t.false(calls.includes(enrollment.token));
  t.is(JSON.parse(await readFile(join(root, STATE), 'utf8')).deviceId, deviceId);
  const { body } = await own.test.call<{ data: object }>('GET', `/devices/${deviceId}`, { token: at.partner.token });
  t.like(body.data, { lifecycle: 'active' });

  const hashOf = async (name: string) =>
    createHash('sha256')
      .update(await (await fetch(`${url}/api/v1/agents/${name}`)).text())
      .digest('hex');
  const windows = (await provision('windows')).enrollment;
  t.true(windows.installCommand.includes(`-ne '${await hashOf('install.ps1')}'`));
  t.true(windows.installCommand.includes(`$env:AGENT_TOKEN='${windows.token}'`));
  t.notRegex(windows.installCommand, /\n|powershell|enroll/);
  wellFormed(t, windows.installCommand);
  const macos = (await provision('macos')).enrollment;
  t.true(macos.installCommand.includes(`${await hashOf('install.sh')}  $f" | shasum -a 256 -c`));
});

test.serial('the signing tool makes a key and a release that this server accepts', async (t) => {
  const root = await newRoot();
  const tool = join(import.meta.dirname, '../../../../agent/signing/sign.ts');
  const key = join(root, 'key.pem');
  const made = await run(process.execPath, [tool, 'new-key', '--key', key, '--key-id', 'mine']);
  t.regex(made.stdout, /^mine:[A-Za-z0-9+/]{43}=\n$/);
  t.is((await stat(key)).mode & 0o777, 0o600);
  const entry = made.stdout.trim();
  const list = (await run(process.execPath, [tool, 'trust', '--key', key, '--key-id', 'mine', entry])).stdout.trim();
  await t.throwsAsync(run(process.execPath, [tool, 'new-key', '--key', key, '--key-id', 'mine']));
  await writeFile(join(root, 'agent-linux-amd64'), 'program');
  const signed = await run(process.execPath, [
    ...[tool, 'sign', '--key', key, '--key-id', 'mine', '--version', '4.0.0', root],
  ]);
  t.is(signed.stdout, 'signed agent-linux-amd64\n');
  const own = await startLocal({ AGENT_TRUST_KEYS: entry, AGENT_TRUST_LIST: list });
  await mkdir(join(own.folder, '4.0.0'));
  for (const name of [
    'agent-linux-amd64',
    'agent-linux-amd64.sig',
    'agent-linux-amd64.manifest.json',
    'checksums.txt',
  ]) {
    await writeFile(join(own.folder, '4.0.0', name), await readFile(join(root, name)));
  }
  t.deepEqual((await sync(own.test, (await systemUser(own.test)).token)).body.synced, ['agent:linux/amd64']);
  const agent = await newAgent(own.test, await tenant(own.test));
  const { body } = await agent.call<{ trustKeyList: string }>('POST', 'heartbeat', { status: 'ok' });
  t.is(body.trustKeyList, list, 'enrolled agents receive the signed list');
  await own.test.stop();
  await rm(root, { recursive: true });
});
