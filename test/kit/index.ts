/** The test kit's door (#test). */
export { createTestDatabase, type TestDatabase } from './database.ts';
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
export { type AuditSeen, joinTestPlatform, startTestPlatform, type TestPlatform } from './platform.ts';
export type { Arranged } from './tenants.ts';
export {
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
