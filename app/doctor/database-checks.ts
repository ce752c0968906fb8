/** Checks of what lies in the database: modules, roles, migrations, workers. */
import type { Config } from '#config';
import type { DoctorCheck } from '#core/contract';
import { migrationState } from '../../core/database/migrations.ts';
import { APP_ROLE, type Database, PLATFORM_ROLE } from '../../core/database/pools.ts';
import { PackageFaults } from '../../core/loader/faults.ts';
import { loadInstallation, migrationFolders } from '../../core/loader/load.ts';
import { packageMigrations } from '../../core/loader/package-life.ts';
import type { LoadedModule } from '../../core/loader/read-module.ts';
import { describeSecrets } from '../lost-secrets.ts';
import type { Report } from './report.ts';

/** Seconds without a heartbeat after which no worker counts as running. */
const MAX_SILENCE_SECONDS = 60;

export async function checkDatabase(report: Report, config: Config, database: Database): Promise<void> {
  const faults = new PackageFaults();
  let modules: LoadedModule[] = [];
  const loaded = await report.check('modules', 'correct the file or the variable that is named', async () => {
    modules = await loadInstallation(config, faults);
    return `${modules.length} there`;
  });
  if (!loaded) return;
  for (const one of modules) if (one.package) await checkPackage(report, database, one, { modules, faults });
  await report.check('secrets', 'bring back the file or variable that is named', () =>
    describeSecrets(config, database.owner),
  );
  for (const check of checksOf(modules)) await checkMore(report, config, check);
  await checkRoles(report, database);
  await checkMigrations(report, database, modules);
  await checkWorkers(report, database);
}

/** What the modules add. */
const checksOf = (modules: readonly LoadedModule[]): DoctorCheck[] =>
  modules.flatMap(({ contributions }) =>
    contributions.flatMap(({ value }) => (value.slot === 'doctor.check' ? [value.value as DoctorCheck] : [])),
  );

async function checkMore(report: Report, config: Config, { name, fix, run }: DoctorCheck): Promise<void> {
  const found = await run(config).catch((error: Error) => error);
  if (!(found instanceof Error) && found.warning) return report.warn(name, found.text, fix);
  await report.check(name, fix, async () => {
    if (found instanceof Error) throw found;
    return found.text;
  });
}

async function checkPackage(
  report: Report,
  { owner }: Database,
  loaded: LoadedModule,
  { modules, faults }: { modules: LoadedModule[]; faults: PackageFaults },
): Promise<void> {
  const { module, package: place } = loaded;
  const fix = 'correct or update the package, or remove it from MODULE_PACKAGES';
  await report.check(`module package ${place?.name}`, fix, async () => {
    const fault = faults.get(module.name);
    if (fault) throw new Error(fault);
    if (!faults.inUse(modules).includes(loaded)) {
      throw new Error(`${module.requires.join(', ')}: one of these, which it requires, is faulty`);
    }
    const { pending, changed } = await migrationState(owner, packageMigrations(loaded));
    const wrong = [...pending, ...changed];
    if (wrong.length > 0) throw new Error(`migrations not applied or changed: ${wrong.join(', ')}`);
    return `${module.name}, loaded and migrated`;
  });
}

async function checkRoles(report: Report, { app, platform }: Database): Promise<void> {
  const pools = [
    { pool: app, role: APP_ROLE },
    { pool: platform, role: PLATFORM_ROLE },
  ];
  await report.check(
    'roles',
    'run quartermaster migrate as a database user who may create roles, and let no connection pooler drop start-up options',
    async () => {
      for (const { pool, role } of pools) {
        // Each new connection checks the role that it has.
        const { rows } = await pool.query('select from pg_roles where rolname = $1', [role]);
        if (!rows[0]) throw new Error(`${role} is missing`);
      }
      return 'tenant and platform work run unprivileged';
    },
  );
}

async function checkMigrations(report: Report, { owner }: Database, modules: LoadedModule[]): Promise<void> {
  const fix = 'run quartermaster migrate; if files were changed, restore the originals';
  await report.check('migrations', fix, async () => {
    const { pending, changed, applied, newer } = await migrationState(owner, migrationFolders(modules));
    if (changed.length > 0) throw new Error(`changed after they were applied: ${changed.join(', ')}`);
    if (pending.length > 0) throw new Error(`${pending.length} not applied: ${pending.join(', ')}`);
    if (newer.length > 0)
      report.warn('migrations', `a newer version applied ${newer.join(', ')}`, 'finish the upgrade');
    return `${applied} applied`;
  });
}

async function checkWorkers(report: Report, { platform }: Database): Promise<void> {
  await report.check('worker heartbeat', 'start a process with ROLE=worker or ROLE=all', async () => {
    const { rows } = await platform.query<{ age: number | null; nodes: number }>(
      `select extract(epoch from now() - max(heartbeat_at))::int as age, count(*)::int as nodes
       from worker_nodes where state = 'running'`,
    );
    const { age, nodes } = rows[0] ?? { age: null, nodes: 0 };
    if (age === null) throw new Error('no worker is running');
    if (age > MAX_SILENCE_SECONDS) throw new Error(`the last heartbeat is ${age} s old`);
    return `${nodes} running, last heartbeat ${age} s ago`;
  });
}
