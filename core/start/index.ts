/** Starts the rooms of core in order as one platform: as a process from app/, many times from the test kit. */
import { type Sealer, startSealer } from '../audit/sealer.ts';
import { createMetrics } from '../http/metrics/metrics.ts';
import { readBacklogs } from '../jobs/figures.ts';
import { Lanes } from '../jobs/lanes.ts';
import type { TaskServices } from '../jobs/task.ts';
import { jobRegistry } from '../loader/job-registry.ts';
import { drainDeliveries, type ModuleStart, startBackground, startModules } from '../loader/package-life.ts';
import { openModules } from '../modules/open.ts';
import { createBackend } from './backend.ts';
import { startDatabase } from './database.ts';
import { startHttp, urlOf } from './http.ts';
import { startLive } from './live.ts';
import { readInstallation } from './modules.ts';
import type { Platform, PlatformOptions } from './options.ts';
import { ProvidedServices } from './provided-services.ts';
import { startServices } from './services.ts';
import { startServicesFor } from './start-services.ts';
import { Stoppers } from './stoppers.ts';

export type { Platform, PlatformOptions } from './options.ts';

/** Reads the modules, migrates, starts each room and then each module. A fault stops the start and names what is wrong. */
export async function startPlatform(options: PlatformOptions): Promise<Platform> {
  const stoppers = new Stoppers(options.log);
  try {
    return await startRooms(options, stoppers);
  } catch (error) {
    await stoppers.stopAll();
    throw error;
  }
}

/** Each room may use those started before it, and is stopped before them. */
async function startRooms(options: PlatformOptions, stoppers: Stoppers): Promise<Platform> {
  const { config, log } = options;
  const metrics = createMetrics();
  const installation = await readInstallation(options, metrics);
  const { faults } = installation;
  const storage = await startDatabase(options, installation, metrics, stoppers);
  const { database, modules, attempts, batches } = storage;
  const live = await startLive(options, database, stoppers);
  const { notices, hints, counters, principals } = live;
  const { states, contributions } = await openModules(modules, {
    config,
    pool: database.platform,
    notices,
    log,
    faults,
  });
  stoppers.add('module states', () => states.close());
  const registry = jobRegistry(modules, states, new Lanes(() => readBacklogs(database.platform)));
  const provided = new ProvidedServices();
  const services = startServices(options, { counters, states, registry, provided }, stoppers);
  const work = createBackend({ ...storage, notices, hints, registry, contributions, services });
  const partnerOf = (orgId: string) => principals.partnerOf(orgId);
  const start = startServicesFor(options, { work, log, partnerOf }, live, states);
  const starting: ModuleStart = { modules, start, faults, registry, states, provided, stoppers };
  const tasks: TaskServices = {
    work,
    registry,
    log,
    partnerOf,
    skipped: new WeakSet(),
    startBackground: () => startBackground(starting),
    drainDeliveries: (queue) => drainDeliveries(starting, queue),
  };
  const started = await startModules(starting);
  const sealer = options.seal ? sealerOf(tasks, stoppers) : null;
  const settle = async () => {
    await attempts.flush();
    await batches.drain();
    await hints.flush();
    await sealer?.drain();
  };
  stoppers.add('writing what is buffered in memory', settle);
  const http = { attempts, modules, counters, principals, work, metrics, states, started };
  const server = options.api ? await startHttp(options, http, stoppers) : null;
  const url = server ? urlOf(server) : '';
  const stop = async () => void (await stoppers.stopAll());
  return { server, url, tasks, modules, sealer, metrics, settle, stop };
}

function sealerOf({ work, log }: TaskServices, stoppers: Stoppers): Sealer {
  const sealer = startSealer({ pool: work.database.platform, mac: work.services.mac, log });
  stoppers.add('sealing the audit trail', () => sealer.stop());
  return sealer;
}
