/** The platforms that tests run against: one of the file's own, or one that several files use in turn. */
import type { Platform } from '#core/start';
import type { Called, CallOptions } from './http.ts';
import type { Arranged } from './tenants.ts';

/** A running platform as seen from outside: HTTP, its database and its queue. */
export interface PlatformClient extends Arranged {
  /** Of the server, without a path. */
  url: string;
  databaseUrl: string;
  dataDir: string;
  /** Goes into the stored hash of an enrollment key. */
  enrollmentPepper: string;
  /** @param path below /api/v1, or from the root when it begins with `//` */
  call<B = unknown>(method: string, path: string, options?: CallOptions): Promise<Called<B>>;
  /** Runs queued jobs until none is ready, then waits until nothing waits in memory. */
  runJobs(): Promise<void>;
  /** Resolves when everything that waited in memory is in the database. */
  settle(): Promise<void>;
  /** Audit entries, oldest first, after everything has been sealed. */
  audits(where?: { action?: string; orgId?: string }): Promise<AuditSeen[]>;
  /** @throws when an answer was not as the API document declares it */
  stop(): Promise<void>;
}

/** A platform in the test's own process, whose parts can be used directly. */
export interface TestPlatform extends PlatformClient {
  platform: Platform;
}

export interface AuditSeen {
  action: string;
  org_id: string | null;
  actor_type: string;
  actor_id: string;
  resource_type: string;
  resource_id: string;
  details: Record<string, unknown>;
  result: string;
}

/** Where an installation keeps what it knows. */
export interface Installation {
  databaseUrl: string;
  dataDir: string;
}

/**
 * A platform in this process with a database of its own. A file that uses only HTTP, SQL and jobs takes `sharedPlatform()`
 * instead, which need not start one.
 * @param env variables on top of the kit's own, as an operator would set them
 * @param modulesRoot another folder of modules, for tests of the machinery itself
 */
export async function startTestPlatform(env: Record<string, string> = {}, modulesRoot?: string): Promise<TestPlatform> {
  // Only here: loading the product takes longer than most tests.
  const { startInProcess } = await import('./in-process.ts');
  return startInProcess(env, modulesRoot);
}

/** A further API process of an installation, as far as one process can play two. Stop it before the first. */
export async function joinTestPlatform(
  first: Installation,
  env: Record<string, string> = {},
): Promise<Pick<TestPlatform, 'url' | 'platform' | 'call' | 'stop'>> {
  const { joinInProcess } = await import('./in-process.ts');
  return joinInProcess(first, env);
}
