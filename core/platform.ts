/** Wires the rooms into one running platform; what main.ts starts as a process and the test kit starts many times. */
import { join } from 'node:path';
import type { Server } from '@hapi/hapi';
import type { Logger } from 'pino';
import type { Config } from '#config';
import { openAttempts } from './audit/attempts.ts';
import { type AuditRow, auditRow } from './audit/record.ts';
import { type Sealer, startSealer } from './audit/sealer.ts';
import { createMac } from './auth/opaque-tokens.ts';
import { Principals } from './auth/principals.ts';
import { createTokenSigner } from './auth/tokens.ts';
import type { AgentAuthenticator, SocketEndpoint } from './contract.ts';
import { createCounters } from './counters/create-counters.ts';
import { openBatches } from './database/batches.ts';
import { bringUpToDate } from './database/bring-up-to-date.ts';
import { openDatabase } from './database/pools.ts';
import { makePartitions } from './database/upkeep.ts';
import { addDocs } from './http/docs.ts';
import { addHealth } from './http/health.ts';
import { createMetrics } from './http/metrics.ts';
import { openapiDocument } from './http/openapi.ts';
import type { RouteTag } from './http/route.ts';
import { addRoutes, createServer } from './http/server.ts';
import { addSockets } from './http/sockets.ts';
import { JobRegistry } from './jobs/registry.ts';
import type { TaskServices } from './jobs/task.ts';
import { openHints } from './live/hints.ts';
import { openNotices } from './live/notices.ts';
import { checkModules } from './loader/check.ts';
import { discover, type LoadedModule, withoutDisabled } from './loader/discover.ts';
import { createHttpClient } from './outbound/http-client.ts';
import { createMailer } from './outbound/mail.ts';
import { createSmsSender } from './outbound/sms.ts';
import type { Secrets } from './secrets.ts';
import { readSettings, settingsFaults } from './settings/read.ts';
import { createSealer } from './settings/seal.ts';
import { EVERYWHERE, inWork, NOBODY, type WorkServices } from './work.ts';

export const ROOT = join(import.meta.dirname, '..');

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

/** The modules that this configuration runs, checked; nothing is started. */
export async function loadModules(
  config: Pick<Config, 'modules'>,
  root = join(ROOT, 'modules'),
): Promise<LoadedModule[]> {
  const modules = await discover(root);
  // Before some are left out: what fits a module that is switched off is no fault.
  checkModules(modules);
  return withoutDisabled(modules, config.modules.disabled, config.modules.enabled);
}

export const migrationFolders = (modules: LoadedModule[]) => [
  { owner: 'core', path: join(ROOT, 'migrations') },
  ...modules.map((loaded) => ({ owner: loaded.module.name, path: loaded.migrations })),
];

export const routeTags = (modules: LoadedModule[]): RouteTag[] =>
  modules.flatMap((loaded) => loaded.routes.map(({ value }) => ({ route: value, module: loaded.module.name })));

/** Discover, order, check, migrate, register, start. A fault stops the start and names what is wrong. */
export async function startPlatform(options: PlatformOptions): Promise<Platform> {
  const { config, secrets, log } = options;
  const modules = await loadModules(config, options.modulesRoot);
  const database = openDatabase({
    url: options.databaseUrl,
    appUrl: config.database.appUrl,
    platformUrl: config.database.platformUrl,
    poolSize: config.database.poolSize,
    onError: (error) => log.warn({ err: error }, 'an idle database connection broke'),
  });
  const closers: (() => Promise<void>)[] = [() => database.close()];
  const close = async () => {
    for (const closer of closers.reverse()) await closer().catch((error: Error) => log.warn({ err: error }, 'closing'));
  };
  try {
    await bringUpToDate(database.owner, migrationFolders(modules), config.database.autoMigrate, log);
    await makePartitions(database.platform);
    const registry = new JobRegistry();
    for (const loaded of modules) {
      for (const { value } of loaded.jobs) registry.addJob({ module: loaded.module.name, job: value });
      for (const { file, value } of loaded.subscribers) {
        const task = `${loaded.module.name}/on-${file.split('/').at(-1)?.replace(/\.ts$/, '')}`;
        registry.addSubscriber({ task, module: loaded.module.name, subscriber: value });
      }
    }
    const attempts = openAttempts(database.platform, log);
    const batches = openBatches(database.platform);
    const services = new Map<string, unknown>();
    const fillings = Map.groupBy(
      modules.flatMap((loaded) => loaded.fillings),
      ({ value }) => value.slot as string,
    );
    const byName = new Map(modules.map((loaded) => [loaded.module.name, loaded.module]));
    const signer = createTokenSigner({ secret: secrets.jwtSecret });
    const mail = createMailer(config);
    closers.push(async () => mail.close());
    const http = createHttpClient(config.outbound);
    closers.push(() => http.close());
    const notices = await openNotices(options.databaseUrl, log);
    closers.push(() => notices.close());
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
    const work: WorkServices = {
      database,
      batches,
      doors: {
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
        settingsFaults: (name, values) => settingsFaults(byName.get(name)?.settings, values),
      },
      auditRow: ({ options: { actor, scope } }, action, entry) => auditRow(actor, scope, action, entry),
      auditAttempt: ({ options: { actor, scope } }, action, entry) =>
        attempts.add(auditRow(actor, scope, action, entry) as AuditRow),
      jobRow: ({ options: { scope, requestId } }, name, payload, jobOptions) =>
        registry.jobRow(name, payload, { orgId: scope.orgId, requestId }, jobOptions),
      subscriberJobs: ({ options: { requestId } }, event) => registry.subscriberJobs(event, requestId),
      api: (name, ctx) => {
        const module = byName.get(name);
        if (!module?.api) throw new Error(`the module ${name} is not there or offers nothing`);
        return module.api(ctx);
      },
      fillings: (slot) => (fillings.get(slot) ?? []).map(({ value }) => value.value),
      settings: async (ctx, name, orgId) => {
        const schema = byName.get(name)?.settings;
        if (!schema) throw new Error(`the module ${name} has no settings`);
        return readSettings(ctx, name, schema, orgId);
      },
      deliverNotice: (channel, payload) => notices.deliver(channel, payload),
      hint: (channel, payload) => hints.tell(channel, payload),
    };
    const metrics = createMetrics({ owner: database.owner, app: database.app, platform: database.platform });
    const tasks: TaskServices = {
      work,
      registry,
      log,
      partnerOf: (orgId) => principals.partnerOf(orgId),
    };
    const asPlatform = <T>(run: Parameters<typeof inWork<T>>[2]) =>
      inWork(
        work,
        { actor: { ...NOBODY, kind: 'system' }, scope: EVERYWHERE, requestId: 'start', log, role: 'platform' },
        run,
      );
    for (const { module } of modules) {
      await module.start?.({
        services,
        asPlatform,
        onNotice: (channel, listener) => notices.on(channel, listener),
        onNoticesLost: (listener) => notices.onLost(listener),
      });
      if (module.stop) closers.push(async () => module.stop?.());
    }
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
        doors: work.doors,
      };
      server = createServer(
        {
          work,
          counters,
          checkResponses: options.checkResponses ?? false,
          log,
          attempt: (row) => attempts.add(row),
          observe: metrics.observe,
          // After the listener above that forgets who everybody was.
          onPrincipalsChanged: (listener) => {
            notices.on('principals', listener);
            notices.onLost(listener);
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
      });
      const tags = routeTags(modules);
      addRoutes(server, { work, counters, checkResponses: options.checkResponses ?? false }, tags);
      addSockets(server, {
        endpoints: work.fillings('http.socket') as SocketEndpoint[],
        access,
        counters,
        work,
        log,
        trustProxy: config.http.trustProxyHeaders,
        observe: metrics.observe,
        count: metrics.socket,
      });
      addDocs(
        server,
        openapiDocument(
          tags,
          modules.map((loaded) => loaded.module),
          config.version,
        ),
      );
      await server.start();
      closers.push(async () => {
        stopping = true;
        await server?.stop({ timeout: 10_000 });
      });
    }
    const sealer = options.seal ? startSealer({ pool: database.platform, vouch: work.doors.mac, log }) : null;
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
