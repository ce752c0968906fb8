/** What a piece of work knows about itself: who acts, how far they reach, and the doors it may use. */

import type { Knex } from 'knex';
import type { QueryResult, QueryResultRow } from 'pg';
import type { Logger } from 'pino';
import type { Config } from '#config';
import type {
  Apis,
  Batch,
  EventName,
  Events,
  JobName,
  JobPayload,
  Module,
  ModulePlace,
  Schedule,
  Slots,
} from './contract.ts';

export interface Actor {
  readonly kind: 'user' | 'api_key' | 'agent' | 'job' | 'anonymous' | 'system';
  readonly id: string | null;
  readonly email: string | null;
  readonly name: string | null;
  readonly mfa: boolean;
  /** The role demands an authenticator, or the organization a second factor, and the user has none. */
  readonly mustEnrollMfa: boolean;
  readonly permissions: ReadonlySet<string>;
  readonly roleId: string | null;
  readonly sessionId: string | null;
  readonly ip: string | null;
  readonly userAgent: string | null;
}

/** How far the actor reaches. `orgIds` null means every organization (spec/2-tenancy, Authentication). */
export interface Scope {
  readonly kind: 'system' | 'partner' | 'organization' | 'device' | 'none';
  readonly partnerId: string | null;
  /** The partner above the reached organizations, whose shared objects may be read. */
  readonly ownerPartnerId: string | null;
  readonly orgId: string | null;
  readonly orgIds: readonly string[] | null;
  /** True for a partner user who reaches every organization of the partner. */
  readonly allOrgs: boolean;
  readonly siteIds: readonly string[] | null;
  readonly groupIds: readonly string[] | null;
  readonly deviceId: string | null;
  /** Organizations that would be reached if the route's module were on for them. */
  readonly withheld?: { readonly module: string; readonly orgIds: readonly string[] };
}

export interface AuditEntry {
  orgId?: string | null;
  partnerId?: string | null;
  resourceType?: string;
  resourceId?: string | null;
  resourceName?: string | null;
  details?: Record<string, unknown>;
  result?: 'success' | 'failure' | 'denied';
  errorMessage?: string;
  /** Who did it, when that is not the actor of the work (a login names the user it let in). */
  actor?: Partial<Pick<Actor, 'kind' | 'id' | 'email'>>;
}

export interface JobOptions {
  runAt?: Date;
  /** Coalesces queued jobs of the same key; the last one wins. */
  key?: string;
  queue?: string;
  priority?: number;
  orgId?: string | null;
}

export interface EmitOptions {
  orgId?: string | null;
  siteId?: string | null;
  deviceId?: string | null;
}

export interface Context {
  readonly actor: Actor;
  readonly scope: Scope;
  readonly requestId: string;
  readonly log: Logger;
  /**
   * Aborts when the worker is about to stop: a long job then saves how far it came and throws, or returns after adding its
   * rest as a job. Never aborts in a request.
   */
  readonly signal: AbortSignal;
  /** The transaction; opened when first used. */
  readonly trx: Knex;
  /** Plain SQL on the same transaction, for hot paths and sets. */
  sql<R extends QueryResultRow>(text: string, values?: unknown[], name?: string): Promise<QueryResult<R>>;
  /** Adds one item to a group commit on the platform's role; resolves when the item is durable. */
  batch<I, O>(batch: Batch<I, O>, item: I): Promise<O>;
  audit(action: string, entry?: AuditEntry): void;
  /** Records a failed or denied attempt outside this transaction, so that it stays when the work is undone. */
  auditAttempt(action: string, entry: AuditEntry & { result: 'failure' | 'denied' }): void;
  addJob<N extends JobName>(name: N, payload: JobPayload<N>, options?: JobOptions): void;
  emit<E extends EventName>(name: E, data: Events[E], options?: EmitOptions): void;
  /** Tells every process, after the commit. */
  notify(channel: string, payload: string): void;
  /**
   * Tells every process soon after the commit, through Redis where there is one. A crash may lose it: only for what somebody
   * looks at anyway. Much cheaper than `notify`.
   */
  hint(channel: string, payload: string): void;
  use<N extends keyof Apis>(module: N): Apis[N];
  /** From modules that are on for the organization, or, when none is given, anywhere in this scope. */
  fillings<S extends keyof Slots>(slot: S, orgId?: string): readonly Slots[S][];
  /** The same for work that spans organizations: each with those of them where its module is on; null for all of them. */
  fillingsWithin<S extends keyof Slots>(slot: S): readonly { value: Slots[S]; orgIds: readonly string[] | null }[];
  /** Narrows this transaction to these organizations while `run` works; null changes nothing. */
  within<T>(orgIds: readonly string[] | null, run: (ctx: Context) => Promise<T>): Promise<T>;
  /** A module's settings for one organization: its schema's defaults, then the partner's, then the organization's. */
  settings<T>(module: string, orgId?: string | null): Promise<T>;
  /** Says that a write found nothing to change, so no audit entry is due. */
  unchanged(): void;
  /** Hands a row to `into`, a database function that takes them as a jsonb array, in the round trip of the commit. */
  withCommit(into: string, row: object): void;
  /** Runs after the commit, never after a roll-back. */
  afterCommit(fn: () => void): void;
  readonly platform: PlatformDoors;
}

/** Long-lived services of the process that modules may reach. */
export interface PlatformDoors {
  readonly config: Config;
  /** Goes into the hash of enrollment keys; never logged, never returned. */
  readonly enrollmentPepper: string;
  /** Signs an access token; `seconds` is its lifetime. */
  signAccess(claims: AccessClaims, seconds: number): Promise<string>;
  /** The claims of an access token; rejects for one that is not ours or has expired. Its session may have ended. */
  verifyAccess(token: string): Promise<AccessClaims>;
  /**
   * HMAC-SHA-256 in hex under a key of this installation, another for each purpose: for codes too short to be stored as
   * plain hashes, and for tokens that must be ours.
   */
  mac(purpose: string, text: string): string;
  readonly seal: { seal(plain: string, place: SealPlace): string; open(sealed: string, place: SealPlace): string };
  readonly mail: {
    /** Rejects with MailError; `permanent` where trying again is in vain. */
    send(message: {
      to: string;
      subject: string;
      text: string;
      html?: string;
      messageId?: string;
      references?: readonly string[];
    }): Promise<{ id: string }>;
  };
  /** Rejects with SmsError; `permanent` where trying again is in vain. */
  readonly sms: { send(message: { to: string; text: string }): Promise<{ id: string }> };
  /** The one way to other people's servers: addresses checked, answers bounded (domain/01-conventions, section 5). */
  readonly http: Requests;
  /** What a module says against settings that somebody wants to keep; empty where it has none. */
  settingsFaults(module: string, values: unknown): { path: string; message: string }[];
  /** Runs work in the platform's role on its own transaction, where the tenant is not known yet (login, enrollment). */
  asPlatform<T>(ctx: Context, run: (ctx: Context) => Promise<T>): Promise<T>;
  /**
   * Runs work on its own transaction as the caller and within the caller's reach: for routes that must not hold one while
   * they wait (`work: 'none'`). What it audits counts as audited by the route.
   */
  asCaller<T>(ctx: Context, run: (ctx: Context) => Promise<T>): Promise<T>;
  /** Counts what a route's own `limits` cannot express, such as failures only. Rejects while the store is away. */
  readonly counters: FailureCounters;
  /** What modules keep for the life of the process (caches); filled by their `start`. */
  readonly services: ReadonlyMap<string, unknown>;
  readonly modules: ModuleDirectory;
  /** Every job and subscriber of this installation, by name. */
  tasks(): readonly TaskInfo[];
}

/** Which modules there are and where they are on, from memory: at most two seconds behind a change. */
export interface ModuleDirectory {
  /** Those that others require come first. */
  readonly all: readonly Module[];
  /** Why it is off there (domain/modules, section 2); null where it is on. */
  off(module: string, where: Partial<ModulePlace>): string | null;
  /** Organizations for which it is off although the installation has it. */
  orgsWithout(module: string): string[];
  /** Whether the environment allows it. */
  allowed(module: string): boolean;
  /** Variables that it misses. */
  missing(module: string): string[];
  /** Why nobody can use the module package that it comes from: for the operator's own people. Null where it works. */
  fault(module: string): string | null;
  inPlan(module: string, plan: string): boolean;
  /** Whether only the operator may switch it. */
  locked(module: string): boolean;
}

export interface TaskInfo {
  name: string;
  module: string;
  summary: string;
  scope: 'tenant' | 'platform' | 'subscriber';
  maxAttempts: number;
  schedule: Schedule | null;
  /** Somebody waits for it. */
  interactive: boolean;
}

export interface Requests {
  /**
   * For use before a URL is stored: throws UrlBlockedError for one that `request` would refuse. A name that cannot be
   * resolved now passes. Asks the name server, so not within a transaction.
   */
  check(url: string): Promise<void>;
  /** Throws UrlBlockedError (`URL_BLOCKED`) or UpstreamError (`UPSTREAM_ERROR`). Not within a transaction. */
  request(
    url: string,
    options?: {
      method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
      headers?: Record<string, string>;
      body?: string | Buffer;
      /** Milliseconds for the whole exchange. */
      timeoutMs?: number;
      /** Largest answer in bytes. */
      maxBytes?: number;
      maxRedirects?: number;
      signal?: AbortSignal;
      /** Takes the body of a 2xx answer piece by piece, for what is too large to be held; `body` is empty then. */
      sink?: (chunk: Uint8Array) => void;
    },
  ): Promise<{
    status: number;
    headers: Record<string, string | string[] | undefined>;
    body: Buffer;
    text(): string;
    json(): unknown;
  }>;
}

export interface FailureCounters {
  /** Counts one; at most `max` in `windowSeconds`. */
  hit(key: string, max: number, windowSeconds: number): Promise<{ allowed: boolean; retryAfterSeconds: number }>;
  /** The same answer without counting. */
  peek(key: string, max: number, windowSeconds: number): Promise<{ allowed: boolean; retryAfterSeconds: number }>;
}

export interface SealPlace {
  table: string;
  column: string;
  row: string;
}

/** What an access token says (spec/1-identity, Authentication). */
export interface AccessClaims {
  sub: string;
  sid: string;
  scope: 'system' | 'partner' | 'organization';
  partnerId?: string;
  orgId?: string;
  roleId?: string;
  mfa: boolean;
}

// ---- who and where, when nobody has asked

export const NOBODY: Actor = Object.freeze({
  kind: 'anonymous',
  id: null,
  email: null,
  name: null,
  mfa: false,
  mustEnrollMfa: false,
  permissions: new Set<string>(),
  roleId: null,
  sessionId: null,
  ip: null,
  userAgent: null,
});

export const NOWHERE: Scope = Object.freeze({
  kind: 'none',
  partnerId: null,
  ownerPartnerId: null,
  orgId: null,
  orgIds: [],
  allOrgs: false,
  siteIds: null,
  groupIds: null,
  deviceId: null,
});

export const EVERYWHERE: Scope = Object.freeze({ ...NOWHERE, kind: 'system', orgIds: null, allOrgs: true });
