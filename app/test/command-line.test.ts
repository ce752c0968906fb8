/** The command line: help, wrong arguments, exit codes, and what each command declares. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { defineCommand, UsageError } from '../cli/command.ts';
import { findCommands } from '../cli/find.ts';
import { helpOf } from '../cli/help.ts';
import { runCommandLine } from '../cli/run.ts';

const commands = await findCommands();

/** Runs a command line in this process. */
async function run(args: string[], known = commands) {
  let [out, err] = ['', ''];
  const terminal = {
    out(text: string) {
      out += text;
    },
    err(text: string) {
      err += text;
    },
  };
  const code = await runCommandLine(known, args, terminal);
  return { code, out, err };
}

test('the overview names every command, and no command at all is wrong', async (t) => {
  const { code, out } = await run(['--help']);
  t.is(code, 0);
  for (const name of ['start', 'admin', 'doctor', 'migrate', 'audit', 'agent', 'simulate', 'plugin', 'backup']) {
    t.regex(out, new RegExp(`^  ${name} `, 'm'));
  }
  t.like(await run([]), { code: 2, err: out });
});

test('each command says in its help what it is for, how it is called, and gives an example', async (t) => {
  for (const [name, command] of commands) {
    const help = await helpOf(name, { ...command, moreForms: async () => [] });
    t.regex(help, new RegExp(`^  quartermaster ${name}`, 'm'), name);
    t.true(command.examples.length > 0 && command.examples.every((one) => one.split(' ')[0] === name), name);
    t.notRegex(command.summary, /\.$/, name);
    t.true(
      help.split('\n').every((line) => line.length <= 110),
      name,
    );
  }
});

test('an unknown command and an unknown option are named, with exit code 2', async (t) => {
  const unknown = await run(['strat']);
  t.is(unknown.code, 2);
  t.regex(unknown.err, /Unknown command "strat"\. Commands: admin, .*start\.\nSee quartermaster --help\./);
  const option = await run(['migrate', '--dryrun']);
  t.is(option.code, 2);
  t.regex(option.err, /Unknown option '--dryrun'\.\nUsage:\n {2}quartermaster migrate \[--dry-run\]/);
});

test('missing and unreadable values are wrong arguments', async (t) => {
  t.like(await run(['audit', 'export', '--out', 'file']), { code: 2 });
  t.regex((await run(['audit', 'export'])).err, /^--owner is missing\./);
  t.regex((await run(['audit', 'verify', '--from', 'yesterday'])).err, /^yesterday is not a time/);
  t.regex((await run(['admin', 'create-system-user', '--email', 'ada'])).err, /create-system-user --email EMAIL/);
});

test('a failure is one sentence and exit code 1, wrong arguments are exit code 2', async (t) => {
  const failing = (error: Error) =>
    new Map([
      [
        'fail',
        defineCommand({
          summary: 'Fail',
          forms: [{ usage: 'NOW', description: 'Fails.' }],
          examples: ['fail NOW'],
          run: () => Promise.reject(error),
        }),
      ],
    ]);
  t.deepEqual(await run(['fail'], failing(new Error('The disk is full.'))), {
    code: 1,
    out: '',
    err: 'The disk is full.\n',
  });
  t.like(await run(['fail'], failing(new UsageError('Say when.'))), {
    code: 2,
    err: 'Say when.\nUsage:\n  quartermaster fail NOW\nSee quartermaster fail --help.\n',
  });
});

test('the launcher runs commands, hands their exit codes on, and starts where it is called', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-cli-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const launcher = join(import.meta.dirname, '../quartermaster.mjs');
  const launch = (...args: string[]) =>
    new Promise<{ code: number; out: string }>((resolve) => {
      const env = { PATH: process.env.PATH ?? '', DATA_DIR: folder };
      execFile(process.execPath, [launcher, ...args], { cwd: folder, env }, (error, out, err) =>
        resolve({ code: error ? Number(error.code) : 0, out: out + err }),
      );
    });
  const code = await launch('admin', 'totp-code', '--secret', 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP');
  t.is(code.code, 0);
  t.regex(code.out, /^\d{6}\n$/);
  t.regex((await launch('backup')).out, new RegExp(`Everything is in ${folder}`));
  t.is((await launch('nonsense')).code, 2);
  t.is((await launch('agent', 'version')).out, 'dev-source\n');
});
