/** Checks what a running platform needs: configuration, disk, database, Redis, mail. */
import { statfs } from 'node:fs/promises';
import type { Config } from '#config';
import { createCounters } from '../../core/counters/create-counters.ts';
import { makeDataFolder } from '../../core/data-folder.ts';
import { createMailer } from '../../core/outbound/mail.ts';
import { loadConfiguration } from '../configuration.ts';
import { openStore, type Store } from '../store.ts';
import { checkDatabase } from './database-checks.ts';
import { checkProxies } from './proxy-checks.ts';
import { Report } from './report.ts';
import { checkServerSettings } from './server-settings.ts';

const GIB = 1024 ** 3;
const MIN_FREE_GIB = 1;
/** PostgreSQL 15, as `server_version_num` says it. */
const MIN_POSTGRES = 150_000;

/** Returns the exit code: 1 when any check failed. */
export async function examine(): Promise<number> {
  const report = new Report();
  let config: Config | undefined;
  await report.check(
    'configuration',
    'correct the variables named above; .env.example describes them all',
    async () => {
      config = await loadConfiguration();
      return config.production ? 'valid, production' : 'valid';
    },
  );
  if (config) await examineWith(report, config);
  return report.failed ? 1 : 0;
}

async function examineWith(report: Report, config: Config): Promise<void> {
  await checkDisk(report, config);
  await checkProxies(report, config);
  const store = await checkServer(report, config);
  if (store) await checkServerSettings(report, config, store.database);
  if (store) await checkDatabase(report, config, store.database);
  await report.check('Redis', 'check REDIS_URL, or leave it out to count in the process', async () => {
    if (!config.redisUrl) return 'not configured; limits are counted in each process';
    const counters = createCounters({ redisUrl: config.redisUrl });
    await counters.ping().finally(() => counters.close());
    return 'answers';
  });
  await report.check('mail', 'check MAIL_URL', async () => {
    const mailer = createMailer(config);
    await mailer.verify().finally(() => mailer.close());
    return config.mail.url ? 'the server accepts us' : `not configured; messages are written to ${config.dataDir}/mail`;
  });
  report.tell(
    'backup',
    config.database.url
      ? `copy the database, the secrets and the files in ${config.dataDir}; quartermaster backup prints the commands`
      : `stop the server and copy all of ${config.dataDir}; quartermaster backup prints the commands`,
  );
  await store?.close();
}

async function checkDisk(report: Report, { dataDir }: Config): Promise<void> {
  await report.check('free disk', 'free some space, or set DATA_DIR to a larger volume', async () => {
    await makeDataFolder(dataDir);
    const { bavail, bsize } = await statfs(dataDir);
    const free = (bavail * bsize) / GIB;
    if (free < MIN_FREE_GIB) throw new Error(`only ${free.toFixed(2)} GiB free in ${dataDir}`);
    return `${free.toFixed(0)} GiB in ${dataDir}`;
  });
}

/** Returns the open database where the server answers. */
async function checkServer(report: Report, config: Config): Promise<Store | undefined> {
  let store: Store | undefined;
  await report.check('database', 'check DATABASE_URL and that PostgreSQL 15 or newer runs there', async () => {
    store = await openStore(config);
    const { rows } = await store.database.owner.query<{ version: string; number: number }>(
      `select current_setting('server_version') as version, current_setting('server_version_num')::int as number`,
    );
    const { version = 'unknown', number = 0 } = rows[0] ?? {};
    if (number < MIN_POSTGRES) throw new Error(`PostgreSQL ${version} is too old`);
    return `PostgreSQL ${version}${config.database.url ? '' : ', embedded'}`;
  });
  return store;
}
