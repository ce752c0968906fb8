/** The agent protocol as agents and server both know it (#agent-protocol): types and constants that import nothing. */

export { canonicalJson } from './canonical-json.ts';
export * from './commands.ts';
export * from './enrollment.ts';
export * from './frames.ts';
export * from './heartbeat.ts';
export * from './inventory.ts';
export * from './logs.ts';
export * from './metrics.ts';
export * from './releases.ts';
export * from './reports.ts';
export * from './tools/event-logs.ts';
export * from './tools/files.ts';
export * from './tools/processes.ts';
export * from './tools/registry.ts';
export * from './tools/results.ts';
export * from './tools/services.ts';
export * from './tools/tasks.ts';
export * from './trust-lists.ts';
