/** The live tools of an operating system: one interface, one implementation for each system. */

export type ToolCode =
  | 'NOT_FOUND'
  | 'DENIED'
  | 'PROTECTED'
  | 'CONFLICT'
  | 'INVALID'
  | 'UNSUPPORTED_OS'
  | 'UNSUPPORTED'
  | 'FILE_LOCKED'
  | 'TOO_LARGE'
  | 'TIMEOUT';

/** What a tool refuses; travels as `{status: 'failed', error: message, result: {code}}`. */
export class ToolError extends Error {
  readonly code: ToolCode;

  constructor(code: ToolCode, message: string) {
    super(message);
    this.code = code;
  }
}

export interface Page {
  /** From 1. */
  page: number;
  limit: number;
}
/** One page of a list that was filtered, sorted and cut on the device; `total` is null where counting is too dear. */
export interface Paged<T> {
  items: T[];
  total: number | null;
}

export interface ProcessItem {
  pid: number;
  name: string;
  cpuPercent: number | null;
  memoryMb: number | null;
  user: string | null;
  status: 'running' | 'sleeping' | 'stopped' | 'zombie' | 'unknown';
  commandLine: string | null;
  parentPid: number | null;
  threads: number | null;
  /** ISO 8601; together with the pid it names one process for ever. */
  startTime: string | null;
}
export interface ProcessDetail extends ProcessItem {
  openFiles?: string[];
}
export interface ProcessQuery extends Page {
  search?: string;
  sort: 'cpu' | 'memory' | 'name' | 'pid';
  sortDir: 'asc' | 'desc';
}

export interface ServiceDetail {
  name: string;
  displayName: string | null;
  status: 'running' | 'stopped' | 'paused' | 'starting' | 'stopping' | 'unknown';
  startType: 'auto' | 'manual' | 'disabled' | 'auto_delayed' | null;
  account: string | null;
  description: string | null;
  path: string | null;
  dependencies: string[];
}
export interface ServiceChange {
  name: string;
  status: ServiceDetail['status'];
  /** The service already was what was asked for. */
  note?: string;
  /** Dependent services that were restarted too. */
  restarted?: string[];
}

export interface EventLogItem {
  name: string;
  displayName: string;
  recordCount: number | null;
  /** Bytes. */
  maxSize: number | null;
  retentionDays: number | null;
  lastWriteTime: string | null;
}
export interface EventItem {
  /** Opaque: what `event` takes. */
  recordId: string;
  timestamp: string;
  level: 'critical' | 'error' | 'warning' | 'info' | 'debug';
  source: string;
  eventId: string | null;
  message: string;
  computer: string | null;
  user: string | null;
}
export interface EventQuery extends Page {
  level?: EventItem['level'];
  source?: string;
  startTime?: string;
  endTime?: string;
  eventId?: string;
}

export interface TaskItem {
  path: string;
  name: string;
  folder: string;
  state: 'ready' | 'running' | 'disabled' | 'queued' | 'unknown';
  lastRunTime: string | null;
  lastRunResult: string | null;
  nextRunTime: string | null;
  triggers: { type: string; schedule: string; enabled: boolean }[];
  actions: { type: string; command: string; arguments: string | null }[];
  author: string | null;
  description: string | null;
}
export interface TaskRun {
  startTime: string | null;
  endTime: string | null;
  result: string | null;
  message: string | null;
}

export interface FileEntry {
  name: string;
  path: string;
  type: 'file' | 'directory' | 'symlink';
  /** Bytes. */
  size: number | null;
  modified: string | null;
  permissions: string | null;
  hidden: boolean;
}
/** What a listing begins with: a drive, or the one root; nothing is known of it but where it is. */
export const rootEntry = (name: string, path: string): FileEntry => ({
  ...{ name, path, type: 'directory', size: null, modified: null, permissions: null, hidden: false },
});
export interface FileList {
  path: string;
  parent: string | null;
  entries: FileEntry[];
  truncated: boolean;
}

export interface RegistryPlace {
  hive: string;
  path: string;
  view: '64' | '32';
}
export interface RegistryKeyItem {
  name: string;
  path: string;
  subKeyCount: number | null;
  valueCount: number | null;
  lastModified: string | null;
}
export interface RegistryValueItem {
  name: string;
  type: string;
  data: unknown;
  truncated: boolean;
}

/** Every method throws ToolError for what it refuses; none takes longer than `signal` allows. */
export interface Processes {
  list(query: ProcessQuery, signal: AbortSignal): Promise<Paged<ProcessItem>>;
  get(pid: number, signal: AbortSignal): Promise<ProcessDetail>;
  /** The tree below is left alone. Refuses pid 0, 1, 4 and the agent's own tree (PROTECTED), and another start time (CONFLICT). */
  kill(
    target: { pid: number; force: boolean; expectedName?: string; expectedStartTime?: string },
    signal: AbortSignal,
  ): Promise<void>;
}
export interface Services {
  list(
    query: Page & { search?: string; status?: ServiceDetail['status'] },
    signal: AbortSignal,
  ): Promise<Paged<ServiceDetail>>;
  get(name: string, signal: AbortSignal): Promise<ServiceDetail>;
  change(name: string, verb: 'start' | 'stop' | 'restart', signal: AbortSignal): Promise<ServiceChange>;
}
export interface EventLogs {
  list(signal: AbortSignal): Promise<EventLogItem[]>;
  query(log: string, query: EventQuery, signal: AbortSignal): Promise<Paged<EventItem>>;
  event(log: string, recordId: string, signal: AbortSignal): Promise<EventItem & { details: Record<string, string> }>;
}
export interface Tasks {
  list(query: Page & { folder: string; search?: string }, signal: AbortSignal): Promise<Paged<TaskItem>>;
  get(path: string, signal: AbortSignal): Promise<TaskItem>;
  history(path: string, limit: number, signal: AbortSignal): Promise<TaskRun[]>;
  change(path: string, verb: 'run' | 'enable' | 'disable', signal: AbortSignal): Promise<{ note?: string }>;
}
export interface Registry {
  keys(place: RegistryPlace, signal: AbortSignal): Promise<RegistryKeyItem[]>;
  values(place: RegistryPlace, signal: AbortSignal): Promise<RegistryValueItem[]>;
  value(place: RegistryPlace, name: string, signal: AbortSignal): Promise<RegistryValueItem>;
  /** What stood there before: null for a new value. */
  set(
    place: RegistryPlace,
    value: { name: string; type: string; data: unknown },
    signal: AbortSignal,
  ): Promise<{ before: { type: string; bytes: number } | null }>;
  delete(place: RegistryPlace, name: string, signal: AbortSignal): Promise<void>;
  createKey(place: RegistryPlace, signal: AbortSignal): Promise<{ created: boolean }>;
  deleteKey(place: RegistryPlace, recursive: boolean, signal: AbortSignal): Promise<void>;
}
/** Paths differ between systems; contents do not, so reading and writing is one implementation (tools/files.ts). */
export interface FilePlaces {
  /** Drives or `/`. */
  roots(signal: AbortSignal): Promise<FileEntry[]>;
  isHidden(path: string, signal: AbortSignal): Promise<boolean>;
  /** Files that nobody may read or replace from afar, as absolute paths of files or folders. */
  denied: readonly string[];
}

/** What an operating system offers; a part that it does not have is null and answers UNSUPPORTED_OS. */
export interface Tools {
  processes: Processes;
  services: Services;
  eventLogs: EventLogs;
  tasks: Tasks;
  registry: Registry | null;
  files: FilePlaces;
}
