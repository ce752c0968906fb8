/**
 * `npm run admin`: makes a system administrator (password from a prompt or standard input), shows an authenticator code, or
 * runs a command of a module.
 */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { parseArgs } from 'node:util';
import { ConfigError, loadConfig } from '#config';
import { createSystemUser } from '../auth/system-user.ts';
import { totpCode } from '../auth/totp.ts';
import { migrate } from '../database/migrations.ts';
import { explain } from '../explain.ts';
import { loadModules, migrationFolders } from '../loader/load.ts';
import { runModuleCommand, usageOfModules } from './module-command.ts';
import { openStore } from './store.ts';

const USAGE = `usage: npm run admin -- create-system-user --email you@example.com [--name "Your Name"]
       npm run admin -- totp-code --secret SECRET`;
const OWN = ['create-system-user', 'totp-code'];

/** Asks twice without showing what is typed; piped input is read once, up to its first line break. */
async function askPassword(): Promise<string> {
  const ask = async (question: string): Promise<string> => {
    const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
    if (process.stdin.isTTY) process.stderr.write(question);
    const reader = createInterface({ input: process.stdin, output: silent, terminal: process.stdin.isTTY === true });
    return new Promise((resolve) => {
      reader.once('line', (line) => {
        resolve(line);
        reader.close();
        if (process.stdin.isTTY) process.stderr.write('\n');
      });
      reader.once('close', () => resolve(''));
    });
  };
  const password = await ask('Password: ');
  if (process.stdin.isTTY && password !== (await ask('Again: '))) throw new Error('The two passwords differ.');
  return password;
}

async function main(): Promise<void> {
  const given = process.argv.slice(2);
  if (given[0] && /^[a-z]/.test(given[0]) && !OWN.includes(given[0])) {
    const said = await runModuleCommand(loadConfig(), given);
    if (said === null) throw new Error([USAGE, ...(await usageOfModules())].join('\n       '));
    process.stdout.write(`${said}\n`);
    return;
  }
  const { values, positionals } = parseArgs({
    options: { email: { type: 'string' }, name: { type: 'string' }, secret: { type: 'string' } },
    allowPositionals: true,
  });
  if (positionals[0] === 'totp-code' && values.secret) {
    process.stdout.write(`${totpCode(values.secret)}\n`);
    return;
  }
  if (positionals[0] !== 'create-system-user' || !values.email?.includes('@'))
    throw new Error([USAGE, ...(await usageOfModules())].join('\n       '));
  const config = loadConfig();
  const password = await askPassword();
  const store = await openStore(config);
  try {
    if (config.database.autoMigrate) await migrate(store.database.owner, migrationFolders(await loadModules()));
    const id = await createSystemUser(store.database.platform, {
      email: values.email,
      password,
      via: 'command line',
      ...(values.name ? { name: values.name } : {}),
    });
    process.stdout.write(`System administrator ${values.email} created (${id}).\n`);
  } finally {
    await store.close();
  }
}

main().catch((error: unknown) => {
  const plain = error instanceof Error && error.name === 'Error' ? error.message : null;
  process.stderr.write(`${error instanceof ConfigError ? error.message : (plain ?? explain(error))}\n`);
  process.exit(1);
});
