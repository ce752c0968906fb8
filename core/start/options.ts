/** What a platform is started with, and what a started platform offers. */
import type { Server } from '@hapi/hapi';
import type { Logger } from 'pino';
import type { Config } from '#config';
import type { Sealer } from '../audit/sealer.ts';
import type { Metrics } from '../http/metrics/metrics.ts';
import type { HttpServices } from '../http/server.ts';
import type { TaskServices } from '../jobs/task.ts';
import type { LoadedModule } from '../loader/read-module.ts';
import type { Secrets } from '../secrets.ts';

export interface PlatformOptions {
  config: Config;
  secrets: Secrets;
  databaseUrl: string;
  log: Logger;
  /** Serves HTTP. */
  api: boolean;
  /** Seals the audit trail in this process; true with the workers, and in tests. */
  seal: boolean;
  /** Validates every response against its schema, for tests. */
  checkResponses?: boolean;
  /** Receives errors that an operation does not declare; without it they fail the request. Used with `checkResponses`. */
  onUndeclared?: HttpServices['onUndeclared'];
  /** False keeps modules from starting timers of their own; true when absent. */
  clocks?: boolean;
  modulesRoot?: string;
}

export interface Platform {
  readonly server: Server | null;
  /** Empty without an API. */
  readonly url: string;
  readonly tasks: TaskServices;
  readonly modules: LoadedModule[];
  readonly sealer: Sealer | null;
  readonly metrics: Metrics;
  /** Resolves when everything that is buffered in memory has been written to the database. */
  settle(): Promise<void>;
  stop(): Promise<void>;
}
