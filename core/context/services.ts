/** The long-lived services of the process that modules may use. */
import type { Config } from '#config';
import type { ModuleDirectory } from '../contract/module-directory.ts';
import type { Schedule } from '../contract/schedule.ts';
import type { ServiceRef } from '../contract/service.ts';
import type { Requests } from './requests.ts';

export interface Services {
  readonly config: Config;
  /** Part of the hash of enrollment keys; never logged, never returned. */
  readonly enrollmentPepper: string;
  /** Signs an access token; `seconds` is its lifetime. */
  signAccess(claims: AccessClaims, seconds: number): Promise<string>;
  /**
   * The claims of an access token. Rejects a token that this installation did not sign or that has expired. Does not check
   * whether its session still exists.
   */
  verifyAccess(token: string): Promise<AccessClaims>;
  /**
   * HMAC-SHA-256 in hex under a key of this installation, with a different key for each purpose: for codes too short to be
   * stored as plain hashes, and for tokens that only this installation can make.
   */
  mac(purpose: string, text: string): string;
  readonly seal: { seal(plain: string, place: SealPlace): string; open(sealed: string, place: SealPlace): string };
  readonly mail: {
    /** Rejects with MailError; `permanent` when a retry cannot succeed. */
    send(message: {
      to: string;
      subject: string;
      text: string;
      html?: string;
      messageId?: string;
      references?: readonly string[];
    }): Promise<{ id: string }>;
  };
  /** Rejects with SmsError; `permanent` when a retry cannot succeed. */
  readonly sms: { send(message: { to: string; text: string }): Promise<{ id: string }> };
  /** The only HTTP client for other servers: it checks addresses and limits the size of responses. */
  readonly http: Requests;
  /** The faults of a module's settings before they are stored; empty when there are none, null when no such module has settings. */
  settingsFaults(module: string, values: unknown): { path: string; message: string }[] | null;
  /** Counters for what a route's own `limits` cannot express, such as failures only. Rejects while the store is away. */
  readonly counters: FailureCounters;
  /** The object that a module's `start` provided for the life of the process. Throws when it has not. */
  get<T>(ref: ServiceRef<T>): T;
  readonly modules: ModuleDirectory;
  /** Every job and subscriber of this installation, by name. */
  tasks(): readonly TaskInfo[];
}

export interface TaskInfo {
  name: string;
  module: string;
  summary: string;
  scope: 'tenant' | 'platform' | 'subscriber';
  maxAttempts: number;
  schedule: Schedule | null;
  /** A person waits for the result. */
  interactive: boolean;
}

export interface FailureCounters {
  /** Counts one; allows at most `max` in `windowSeconds`. */
  hit(key: string, max: number, windowSeconds: number): Promise<{ allowed: boolean; retryAfterSeconds: number }>;
  /** The same answer without counting. */
  peek(key: string, max: number, windowSeconds: number): Promise<{ allowed: boolean; retryAfterSeconds: number }>;
  /** Counts of this process alone, to go on limiting while the shared store is away. */
  readonly local: Pick<FailureCounters, 'hit' | 'peek'>;
}

/** The column and row that a sealed value belongs to; it cannot be opened for another. */
export interface SealPlace {
  table: string;
  column: string;
  row: string;
}

/** The claims of an access token. */
export interface AccessClaims {
  sub: string;
  sid: string;
  scope: 'system' | 'partner' | 'organization';
  partnerId?: string;
  orgId?: string;
  roleId?: string;
  mfa: boolean;
}
