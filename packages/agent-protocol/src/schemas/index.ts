/** Joi schemas of the agent protocol (#agent-protocol/schemas), for the server that validates what agents send. */

export { commandIdShape, commandShape, resultBody } from './commands.ts';
export { configShape, type EnrollmentBody, enrolledShape, enrollmentBody, tokenShape } from './enrollment.ts';
export { progressFrame, updateFrame } from './frames.ts';
export { heartbeatAnswer, heartbeatBody } from './heartbeat.ts';
export { disksBody, hardwareBody, networkBody, servicesBody, softwareBody, submitted } from './inventory.ts';
export { isPlainHeartbeat } from './plain-heartbeat.ts';
export {
  type AgentValues,
  agentValues,
  connectionsBody,
  type PatchesBody,
  patchesBody,
  processesBody,
  type ReportBody,
  securityBody,
  sessionsBody,
} from './reports.ts';
export * from './tools/event-logs.ts';
export * from './tools/files.ts';
export * from './tools/processes.ts';
export * from './tools/registry.ts';
export * from './tools/results.ts';
export * from './tools/services.ts';
export * from './tools/tasks.ts';
export { cleaned, open, text } from './values.ts';
