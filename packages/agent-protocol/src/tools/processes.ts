/** Processes, as live tools list them. */

export const PROCESS_STATUSES = ['running', 'sleeping', 'stopped', 'zombie', 'unknown'] as const;
export const PROCESS_SORTS = ['cpu', 'memory', 'name', 'pid'] as const;
export type ProcessSort = (typeof PROCESS_SORTS)[number];

export interface ProcessItem {
  pid: number;
  name: string;
  cpuPercent: number | null;
  memoryMb: number | null;
  user: string | null;
  status: (typeof PROCESS_STATUSES)[number];
  commandLine: string | null;
  parentPid: number | null;
  threads: number | null;
  /** ISO 8601; together with the pid it identifies one process. */
  startTime: string | null;
}
export interface ProcessDetail extends ProcessItem {
  openFiles?: string[];
}
