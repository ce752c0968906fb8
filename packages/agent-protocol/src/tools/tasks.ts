/** Scheduled tasks, as live tools list them. */

export const TASK_STATES = ['ready', 'running', 'disabled', 'queued', 'unknown'] as const;
export type TaskVerb = 'run' | 'enable' | 'disable';

export interface TaskTrigger {
  type: string;
  schedule: string;
  enabled: boolean;
}
export interface TaskAction {
  type: string;
  command: string;
  arguments: string | null;
}
export interface TaskItem {
  path: string;
  name: string;
  folder: string;
  state: (typeof TASK_STATES)[number];
  lastRunTime: string | null;
  lastRunResult: string | null;
  nextRunTime: string | null;
  triggers: TaskTrigger[];
  actions: TaskAction[];
  author: string | null;
  description: string | null;
}
export interface TaskRun {
  startTime: string | null;
  endTime: string | null;
  result: string | null;
  message: string | null;
}
export interface TaskChange {
  path: string;
  /** Present when the task was already in the requested state. */
  note?: string;
}
