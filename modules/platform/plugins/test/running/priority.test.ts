/** Plugins stand back behind the server whoever started it: Linux takes few changes of priorities from users other than root. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';

const PRIORITY = join(import.meta.dirname, '../../services/running/runners/priority.ts');
const isRoot = process.getuid?.() === 0;
/** Starts six processes at once, sets their priorities, and prints those of their sessions when they have been set. */
const SCRIPT = `
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { NICE, setNice } from ${JSON.stringify(PRIORITY)};
const started = Array.from({ length: 6 }, () => spawn('sleep', ['60'], { detached: true, stdio: 'ignore' }));
const read = () => started.map(({ pid }) => readFileSync('/proc/' + pid + '/autogroup', 'utf8').trim().replace(/.* /, ''));
for (const { pid } of started) setNice(pid, pid, NICE.asARule);
const end = Date.now() + 20_000;
const look = () => {
  const seen = read();
  if (seen.some((nice) => nice !== '10') && Date.now() < end) return setTimeout(look, 20);
  for (const one of started) one.kill('SIGKILL');
  console.log(JSON.stringify(seen));
};
look();
`;

const linux = existsSync('/proc/self/autogroup') ? test : test.skip;
linux('the sessions of several plugins that start at once stand back, also where the server is not root', async (t) => {
  const user = isRoot ? ['setpriv', '--reuid', '64999', '--regid', '64999', '--clear-groups'] : [];
  const [file = '', ...args] = [...user, process.execPath, '--input-type=module', '-e', SCRIPT];
  const { stdout } = await promisify(execFile)(file, args, { timeout: 30_000 });
  t.deepEqual(JSON.parse(stdout), ['10', '10', '10', '10', '10', '10']);
});
