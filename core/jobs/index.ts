/** The entry point of workers: tasks, schedules, history and upkeep of the job queue. */
export { makePartitions, markHorizon, pruneHistory } from '../database/upkeep.ts';
export { pruneSeries, rollUpSeries } from '../series/upkeep.ts';
export { ConcurrencyGate, Deferral } from './concurrency.ts';
export { type JobHistory, openHistory, subjectOf } from './history.ts';
export type { JobMetrics } from './job-metrics.ts';
export { freeDeadNodes, type NodeInfo, newNodeId, sendHeartbeat } from './nodes.ts';
export type { JobEnvelope } from './registry.ts';
export { cronItems, layOutMinute, startMissed, startScheduled } from './schedule.ts';
export { jobTask, type QueueTask, subscriberTask, type TaskServices } from './task.ts';
