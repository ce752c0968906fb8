/** `npm run doctor`: checks what a running platform needs; each line says PASS or FAIL, and how to mend it. */
import { mkdir, statfs } from 'node:fs/promises';
import { type Config, ConfigError, loadConfig } from '#config';
import { createCounters } from '../counters/create-counters.ts';
import { migrationState } from '../database/migrations.ts';
import { APP_ROLE, type Database, PLATFORM_ROLE } from '../database/pools.ts';
import { explain } from '../explain.ts';
import { PackageFaults } from '../loader/faults.ts';
import { loadInstallation, migrationFolders } from '../loader/load.ts';
import { packageMigrations } from '../loader/package-life.ts';
import type { LoadedModule } from '../loader/read-module.ts';
import { createMailer } from '../outbound/mail.ts';
import { openStore, type Store } from './store.ts';

let failed = false;

async function check(name: string, fix: string, run: () => Promise<string>): Promise<boolean> {
  try {
    process.stdout.write(`PASS  ${name}: ${await run()}\n`);
    return true;
  } catch (error) {
    failed = true;
    const text =
      error instanceof ConfigError || (error as Error).name === 'Error' ? (error as Error).message : explain(error);
    process.stdout.write(`FAIL  ${name}: ${text.split('\n')[0]}\n      Fix: ${fix}\n`);
    return false;
  }
}

async function checkDatabase(config: Config, database: Database): Promise<void> {
  const faults = new PackageFaults();
  let modules: LoadedModule[] = [];
  const found = await check('modules', 'correct the file or the variable that is named', async () => {
    modules = await loadInstallation(config, faults);
    return `${modules.length} there`;
  });
  if (!found) return;
  for (const loaded of modules.filter((one) => one.package)) {
    const { module, package: place } = loaded;
    await check(
      `module package ${place?.name}`,
      'mend or update the package, or take it out of MODULE_PACKAGES',
      async () => {
        const fault = faults.get(module.name);
        if (fault) throw new Error(fault);
        if (!faults.inUse(modules).includes(loaded))
          throw new Error(`${module.requires.join(', ')}: one of these, which it requires, is faulty`);
        const { pending, changed } = await migrationState(database.owner, packageMigrations(loaded));
        if (pending.length + changed.length > 0)
          throw new Error(`its migrations do not stand: ${[...pending, ...changed].join(', ')}`);
        return `${module.name}, loaded and migrated`;
      },
    );
  }
  await check('roles', 'run npm run migrate as a database user who may create roles', async () => {
    for (const [pool, role] of [
      [database.app, APP_ROLE],
      [database.platform, PLATFORM_ROLE],
    ] as const) {
      const { rows } = await pool.query(
        'select current_user as name, rolbypassrls or rolsuper as bypass from pg_roles where rolname = current_user',
      );
      if (rows[0]?.bypass) throw new Error(`${rows[0].name} may bypass row-level security`);
      if (!rows[0]) throw new Error(`${role} is missing`);
    }
    return 'tenant and platform work run unprivileged';
  });
  await check('migrations', 'run npm run migrate; if files were changed, bring back the originals', async () => {
    const { pending, changed, applied } = await migrationState(database.owner, migrationFolders(modules));
    if (changed.length > 0) throw new Error(`changed after they were applied: ${changed.join(', ')}`);
    if (pending.length > 0) throw new Error(`${pending.length} not applied: ${pending.join(', ')}`);
    return `${applied} applied`;
  });
  await check('worker heartbeat', 'start a process with ROLE=worker or ROLE=all', async () => {
    const { rows } = await database.platform.query<{ age: number | null; nodes: number }>(
      `select extract(epoch from now() - max(heartbeat_at))::int as age, count(*)::int as nodes from worker_nodes where state = 'running'`,
    );
    const { age, nodes } = rows[0] ?? { age: null, nodes: 0 };
    if (age === null || age > 60)
      throw new Error(age === null ? 'no worker is running' : `the last beat is ${age} s old`);
    return `${nodes} running, last beat ${age} s ago`;
  });
}

async function main(): Promise<void> {
  let config: Config | undefined;
  await check('configuration', 'correct the variables named above; .env.example describes them all', async () => {
    config = loadConfig();
    return config.production ? 'valid, production' : 'valid';
  });
  if (!config) return;
  const known = config;
  await check('free disk', 'make room, or set DATA_DIR to a larger volume', async () => {
    await mkdir(known.dataDir, { recursive: true });
    const { bavail, bsize } = await statfs(known.dataDir);
    const free = (bavail * bsize) / 1024 ** 3;
    if (free < 1) throw new Error(`only ${free.toFixed(2)} GiB free in ${known.dataDir}`);
    return `${free.toFixed(0)} GiB in ${known.dataDir}`;
  });
  let store: Store | undefined;
  await check('database', 'check DATABASE_URL and that PostgreSQL 15 or newer runs there', async () => {
    const opened = await openStore(known);
    store = opened;
    const { rows } = await opened.database.owner.query<{ v: string; n: number }>(
      `select current_setting('server_version') as v, current_setting('server_version_num')::int as n`,
    );
    if ((rows[0]?.n ?? 0) < 150_000) throw new Error(`PostgreSQL ${rows[0]?.v} is too old`);
    return `PostgreSQL ${rows[0]?.v}${known.database.url ? '' : ', embedded'}`;
  });
  if (store) await checkDatabase(known, store.database);
  await check('Redis', 'check REDIS_URL, or leave it out to count in the process', async () => {
    if (!known.redisUrl) return 'not configured; limits are counted in each process';
    const counters = createCounters({ redisUrl: known.redisUrl });
    await counters.ping().finally(() => counters.close());
    return 'answers';
  });
  await check('mail', 'check MAIL_URL', async () => {
    const mailer = createMailer(known);
    await mailer.verify().finally(() => mailer.close());
    return known.mail.url ? 'the server accepts us' : `not configured; messages are written to ${known.dataDir}/mail`;
  });
  await store?.close();
}

await main();
process.exit(failed ? 1 : 0);
