/** What tests see of a platform. */
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
