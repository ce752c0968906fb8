/** Agents, callers, tenants and their people, for tests of modules and of module packages. */
export {
  agentOf,
  enrollAgent,
  enrollmentBody,
  enrollmentKey,
  type FakeAgent,
  type FakeBeatAnswer,
  type FakeCommand,
  type FakeEnrolled,
} from './fake-agent.ts';
export { type Called, type CallOptions, call, type ErrorBody } from './http.ts';
export { connectAgent, type LiveAgent, type Said, type Script } from './live-agent.ts';
export type { AuditSeen, PlatformClient, TestPlatform } from './platform.ts';
export {
  type Arranged,
  apiKey,
  organization,
  orgUser,
  type Person,
  partnerUser,
  ROLES,
  systemUser,
  type Tenant,
  tenant,
} from './tenants.ts';
