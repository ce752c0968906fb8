/** Reports: samples of patches, security, logins, connections and processes, of which the server keeps the latest. */
import type { Snapshot } from './inventory.ts';

export const PATCH_SOURCES = ['microsoft', 'apple', 'linux', 'third_party', 'custom'] as const;
export type PatchSource = (typeof PATCH_SOURCES)[number];

/** Limits of one report. MAX_PATCHES counts pending and installed ones together. */
export const MAX_PATCHES = 2_000;
export const MAX_SESSIONS = 500;
export const MAX_CONNECTIONS = 2_000;
export const MAX_PROCESSES = 2_000;

export interface Patch {
  /** The same on all devices for the same version of the same package. */
  externalId: string;
  source: PatchSource;
  title?: string;
  severity?: string;
  category?: string;
  version?: string;
  vendor?: string;
  packageId?: string;
  scope?: string;
  requiresReboot?: boolean;
  installedAt?: string;
}
export interface PatchReport extends Snapshot {
  /** The sources that were asked; patches of other sources stay as the server knows them. */
  coveredSources: PatchSource[];
  pending?: Patch[];
  installed?: Patch[];
  scanId?: string;
  rebootPending?: boolean;
}

/** A person who is logged in. Agents may use other words for `type` and `state`. */
export interface LoginSession {
  username: string;
  type?: 'console' | 'terminal' | 'graphical' | 'remote';
  state?: 'active' | 'idle' | 'disconnected';
  startedAt?: string;
  idleSeconds?: number;
  /** The address or host name that a remote session comes from. */
  from?: string;
}
export interface SessionReport extends Snapshot {
  sessions: LoginSession[];
}

/** An open connection or a port that a program listens on. Agents may use other words for `state`. */
export interface Connection {
  protocol: 'tcp' | 'tcp6' | 'udp' | 'udp6';
  localAddress: string;
  localPort: number;
  /** Absent for sockets that only listen. */
  remoteAddress?: string;
  remotePort?: number;
  state?: string;
  /** Absent where the agent may not see whose socket it is. */
  pid?: number;
  process?: string;
}
export interface ConnectionReport extends Snapshot {
  connections: Connection[];
}

/** Limits of the custom fields that one call writes. */
export const MAX_VALUES = 100;
export const MAX_VALUE_CHARACTERS = 10_000;
/** What became of values for custom fields: each key succeeds or fails by itself. */
export interface AgentValuesAnswer {
  updated: string[];
  failed: { key: string; code: string; message: string }[];
}

/** A running process, without its command line: arguments may hold passwords. */
export interface ProcessSample {
  pid: number;
  name: string;
  cpuPercent?: number;
  memoryMb?: number;
  user?: string;
  startedAt?: string;
}
export interface ProcessReport extends Snapshot {
  processes: ProcessSample[];
}
