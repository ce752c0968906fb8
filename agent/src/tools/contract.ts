/** The live tools of an operating system: one interface, one implementation for each system. */
import type {
  EventDetail,
  EventItem,
  EventItemLevel,
  EventLogItem,
  FileEntry,
  Page,
  Paged,
  ProcessDetail,
  ProcessItem,
  ProcessSort,
  RegistryKeyItem,
  RegistryPlace,
  RegistryValueItem,
  ServiceChange,
  ServiceDetail,
  ServiceVerb,
  TaskItem,
  TaskRun,
  TaskVerb,
  ToolCode,
  ValueSet,
} from '#agent-protocol';

/** What a tool refuses; travels as `{status: 'failed', error: message, result: {code}}`. */
export class ToolError extends Error {
  readonly code: ToolCode;

  constructor(code: ToolCode, message: string) {
    super(message);
    this.code = code;
  }
}

export interface ProcessQuery extends Page {
  search?: string;
  sort: ProcessSort;
  sortDir: 'asc' | 'desc';
}
export interface EventQuery extends Page {
  level?: EventItemLevel;
  source?: string;
  startTime?: string;
  endTime?: string;
  eventId?: string;
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
  change(name: string, verb: ServiceVerb, signal: AbortSignal): Promise<ServiceChange>;
}
export interface EventLogs {
  list(signal: AbortSignal): Promise<EventLogItem[]>;
  query(log: string, query: EventQuery, signal: AbortSignal): Promise<Paged<EventItem>>;
  event(log: string, recordId: string, signal: AbortSignal): Promise<EventDetail>;
}
export interface Tasks {
  list(query: Page & { folder: string; search?: string }, signal: AbortSignal): Promise<Paged<TaskItem>>;
  get(path: string, signal: AbortSignal): Promise<TaskItem>;
  history(path: string, limit: number, signal: AbortSignal): Promise<TaskRun[]>;
  change(path: string, verb: TaskVerb, signal: AbortSignal): Promise<{ note?: string }>;
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
  ): Promise<ValueSet>;
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
