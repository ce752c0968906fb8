/** For tests of plugins: a server in memory, and the contracts that providers must keep. */
export { runAiToolContract, type ToolSetup } from './contracts/ai-tool.ts';
export { runCollectorContract } from './contracts/collector.ts';
export { runNotificationChannelContract } from './contracts/notification-channel.ts';
export { runPsaAdapterContract } from './contracts/psa-adapter.ts';
export { type ReportSetup, runReportTypeContract } from './contracts/report-type.ts';
export type { ContractSetup, TestFunction } from './contracts/suite.ts';
export { createHarness, type DeliveryOptions, type EventGiven, type Harness } from './harness.ts';
export { HandlerError, type HarnessOptions, type NotedCall, type NotedLine } from './harness-types.ts';
export type { SeededDevice, SeededField } from './world/devices.ts';
export type { Answering, PeerAnswer, PeerRequest } from './world/peers.ts';
export type { Emitted, Planned } from './world/world.ts';
