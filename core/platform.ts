/** Wires the rooms into one running platform; what main.ts starts as a process and the test kit starts many times. */
import type { Server } from '@hapi/hapi';
import type { Logger } from 'pino';
import type { Config } from '#config';
import { openAttempts } from './audit/attempts.ts';
import { type AuditRow, auditRow } from './audit/record.ts';
import { type Sealer, startSealer } from './audit/sealer.ts';
import { createMac } from './auth/opaque-tokens.ts';
import { Principals } from './auth/principals.ts';
import { createTokenSigner } from './auth/tokens.ts';
import { EVERYWHERE, NOBODY } from './context/index.ts';
import type { AgentAuthenticator, StartServices } from './contract/index.ts';
import { createCounters } from './counters/create-counters.ts';
import { openBatches } from './database/batches.ts';
import { bringUpToDate } from './database/bring-up-to-date.ts';
import { openDatabase } from './database/pools.ts';
import { makePartitions } from './database/upkeep.ts';
import { addDocs } from './http/document/docs.ts';
import { documentOnce } from './http/document/document.ts';
import { addHealth } from './http/health.ts';
import { createMetrics } from './http/metrics.ts';
import { addRoutes, createServer, type HttpServices } from './http/server.ts';
import { addSockets } from './http/sockets.ts';
import { readBacklogs, readFigures } from './jobs/figures.ts';
import { Lanes } from './jobs/lanes.ts';
import { watchQueue } from './jobs/queue-health.ts';
import { asOrganization, startStanding, type TaskServices } from './jobs/task.ts';
import { openHints } from './live/hints.ts';
import { openNotices } from './live/notices.ts';
import { PackageFaults } from './loader/faults.ts';
import { jobRegistry } from './loader/job-registry.ts';
import { loadInstallation, migrationFolders, outgoingMessages, routeTags, socketEndpoints } from './loader/load.ts';
import { migratePackages, standingModules, startModules } from './loader/package-life.ts';
import type { LoadedModule } from './loader/read-module.ts';
import { openModules } from './modules/open.ts';
import { createHttpClient } from './outbound/http-client.ts';
import { createMailer } from './outbound/mail.ts';
import { createSmsSender } from './outbound/sms.ts';
import type { Secrets } from './secrets.ts';
import { readSettings, settingsFaults } from './settings/read.ts';
import { createSealer } from './settings/seal.ts';
import { runUnitOfWork, type UnitOfWorkBackend } from './work/index.ts';

export interface PlatformOptions {
  config: Config;
  secrets: Secrets;
  databaseUrl: string;
  log: Logger;
  /** Serves HTTP. */
  api: boolean;
  /** Seals the audit trail here; true with the workers, and in tests. */
  seal: boolean;
  checkResponses?: boolean;
  /** With it: hears of errors that an operation does not declare, instead of making them a fault. */
  onUndeclared?: HttpServices['onUndeclared'];
  /** False keeps modules from doing anything by themselves; true when absent. */
  clocks?: boolean;
  modulesRoot?: string;
}

export interface Platform {
  readonly server: Server | null;
  readonly url: string;
  readonly tasks: TaskServices;
  readonly modules: LoadedModule[];
  readonly sealer: Sealer | null;
  readonly metrics: ReturnType<typeof createMetrics>;
  /** Everything that waits in memory is in the database when this resolves. */
  settle(): Promise<void>;
  stop(): Promise<void>;
}

/** Discover, order, check, migrate, register, start. A fault stops the start and names what is wrong. */
export async function startPlatform(options: PlatformOptions): Promise<Platform> {
  const { config, secrets, log } = options;
  const metrics = createMetrics(
    () => ({ owner: database.owner, app: database.app, platform: database.platform }),
    () => readFigures(database.platform),
  );
  const faults = new PackageFaults((fault) => {
    log.error(fault, 'a module package cannot be used; all else goes on without it');
    metrics.packageFault(fault.package, fault.module);
  });
  const found = await loadInstallation(config, faults, options.modulesRoot);
  const database = openDatabase({
    url: options.databaseUrl,
    appUrl: config.database.appUrl,
    platformUrl: config.database.platformUrl,
    poolSize: config.database.poolSize,
    onError: (error) => log.warn({ err: error }, 'an idle database connection broke'),
    onWait: metrics.poolWait,
  });
  const closers: (() => Promise<void>)[] = [() => database.close()];
  const close = async () => {
    for (const closer of closers.reverse()) await closer().catch((error: Error) => log.warn({ err: error }, 'closing'));
  };
  try {
    const { autoMigrate } = config.database;
    await bringUpToDate(database.owner, migrationFolders(found), autoMigrate, log);
    const modules = await migratePackages(database.owner, found, { faults, autoMigrate, log });
    await makePartitions(database.platform);
    const notices = await openNotices(options.databaseUrl, log);
    closers.push(() => notices.close());
    const { states, ...offers } = await openModules(modules, { config, pool: database.platform, notices, log, faults });
    closers.push(async () => states.close());
    const registry = jobRegistry(modules, states, new Lanes(() => readBacklogs(database.platform)));
    const attempts = openAttempts(database.platform, log);
    const batches = openBatches(database.platform);
    const services = new Map<string, unknown>();
    const byName = new Map(modules.map((loaded) => [loaded.module.name, loaded.module]));
    const signer = createTokenSigner({ secret: secrets.jwtSecret });
    const mail = createMailer(config);
    closers.push(async () => mail.close());
    const http = createHttpClient(config.outbound);
    closers.push(() => http.close());
    const prefix = `quartermaster:${new URL(options.databaseUrl).pathname.slice(1)}:`;
    const redis = config.redisUrl ? { url: config.redisUrl, channel: `${prefix}hints` } : null;
    const hints = openHints(database.platform, notices, log, redis);
    closers.push(() => hints.close());
    const principals = new Principals(database.platform);
    notices.on('principals', () => principals.forgetAll());
    notices.onLost(() => principals.forgetAll());
    const counters = createCounters({
      ...(config.redisUrl ? { redisUrl: config.redisUrl } : {}),
      // Two installations may share a Redis; the database tells them apart.
      prefix,
    });
    closers.push(() => counters.close());
    const work: UnitOfWorkBackend = {
      database,
      batches,
      services: {
        config,
        enrollmentPepper: secrets.enrollmentPepper,
        signAccess: (claims, seconds) => signer.sign(claims, seconds),
        verifyAccess: (token) => signer.verify(token),
        mac: createMac(secrets.encryptionKey),
        seal: createSealer({ keys: [{ secret: secrets.encryptionKey }] }),
        mail,
        sms: createSmsSender(config, http),
        http,
        counters,
        services,
        modules: states,
        tasks: () => registry.tasks(),
        settingsFaults: (name, values) => settingsFaults(byName.get(name)?.settings, values),
      },
      auditRow: ({ actor, scope }, action, entry) => auditRow(actor, scope, action, entry),
      auditAttempt: ({ actor, scope }, action, entry) =>
        attempts.add(auditRow(actor, scope, action, entry) as AuditRow),
      jobRow: ({ scope, requestId }, name, payload, jobOptions) =>
        registry.jobRow(name, payload, { orgId: scope.orgId, requestId }, jobOptions),
      subscriberJobs: ({ requestId }, event) => registry.subscriberJobs(event, requestId),
      api: (name, ctx) => {
        const module = byName.get(name);
        if (!module?.api) throw new Error(`the module ${name} is not there or offers nothing`);
        return module.api(ctx);
      },
      ...offers,
      settings: async (ctx, name, orgId) => {
        const schema = byName.get(name)?.settings;
        if (!schema) throw new Error(`the module ${name} has no settings`);
        return readSettings(ctx, name, schema, orgId);
      },
      deliverNotice: (channel, payload) => notices.deliver(channel, payload),
      hint: (channel, payload) => hints.tell(channel, payload),
    };
    const asPlatform = <T>(run: Parameters<typeof runUnitOfWork<T>>[2]) =>
      runUnitOfWork(
        work,
        { actor: { ...NOBODY, kind: 'system' }, scope: EVERYWHERE, requestId: 'start', log, role: 'platform' },
        run,
      );
    const startServices: StartServices = {
      services,
      clocks: options.clocks ?? true,
      asPlatform,
      asOrganization: (orgId, actor, run) => asOrganization(tasks, orgId, actor, run),
      onNotice: (channel, listener) => notices.on(channel, listener),
      onNoticesLost: (listener) => notices.onLost(listener),
      onModulesChanged: (listener) => states.onChange(listener),
      modules: states,
    };
    const tasks: TaskServices = {
      work,
      registry,
      log,
      partnerOf: (orgId) => principals.partnerOf(orgId),
      skipped: new WeakSet(),
      startStanding: () => startStanding(standingModules(running), startServices),
    };
    const running = { modules, services: startServices, faults, registry, states, closers };
    const started = await startModules(running);
    let stopping = false;
    let server: Server | null = null;
    if (options.api) {
      const access = {
        principals,
        counters,
        batches,
        verifyToken: (token: string) => signer.verify(token),
        agentAuthenticator: () => work.fillings('auth.agent')[0] as AgentAuthenticator | undefined,
        mfaEnabled: config.identity.twoFactor,
        services: work.services,
      };
      server = createServer(
        {
          work,
          counters,
          checkResponses: options.checkResponses ?? false,
          ...(options.onUndeclared ? { onUndeclared: options.onUndeclared } : {}),
          log,
          attempt: (row) => attempts.add(row),
          observe: metrics.observe,
          modules: states,
          // After the listener above that forgets who everybody was.
          onPrincipalsChanged: (listener) => {
            notices.on('principals', listener);
            notices.onLost(listener);
            states.onChange(listener);
          },
          access,
        },
        {
          host: config.http.host,
          port: config.http.port,
          trustProxy: config.http.trustProxyHeaders,
          secureCookies: config.http.publicUrl.startsWith('https:'),
          corsOrigins: config.http.corsOrigins,
        },
      );
      addHealth(server, {
        version: config.version,
        pool: database.platform,
        metrics,
        metricsToken: config.http.metricsToken,
        stopping: () => stopping,
        jobs: watchQueue(database.platform),
      });
      const tags = routeTags(started);
      addRoutes(server, { work, counters, checkResponses: options.checkResponses ?? false }, tags);
      addSockets(server, {
        endpoints: socketEndpoints(started),
        access,
        modules: states,
        counters,
        work,
        log,
        trustProxy: config.http.trustProxyHeaders,
        observe: metrics.observe,
        count: metrics.socket,
      });
      const manifests = states.all;
      const document = documentOnce(tags, manifests, config.version, outgoingMessages(modules));
      // Takes a while: before anybody waits for it, but not in tests, most of which never ask.
      if (options.clocks !== false) document();
      addDocs(server, { document, modules: states, access });
      await server.start();
      closers.push(async () => {
        stopping = true;
        await server?.stop({ timeout: 10_000 });
      });
    }
    const sealer = options.seal ? startSealer({ pool: database.platform, vouch: work.services.mac, log }) : null;
    const settle = async () => {
      await attempts.flush();
      await batches.drain();
      await hints.flush();
      await sealer?.drain();
    };
    return {
      server,
      url: server
        ? `http://${server.info.host === '0.0.0.0' ? 'localhost' : server.info.host}:${server.info.port}`
        : '',
      tasks,
      modules,
      sealer,
      metrics,
      settle,
      async stop() {
        stopping = true;
        if (server) await server.stop({ timeout: 10_000 });
        await settle().catch((error: Error) => log.warn({ err: error }, 'what waited in memory could not be written'));
        await sealer?.stop();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}
