/** A token of an agent: its device and role, and its state in the rotation. */

import type { AgentRole } from '#agent-protocol';

export type CredentialState = 'current' | 'previous' | 'pending';

/** A row of agent_credentials without its hash. */
export interface Credential {
  deviceId: string;
  orgId: string;
  agentId: string;
  role: AgentRole;
  state: CredentialState;
  expiresAt: Date | null;
  suspended: boolean;
  createdAt: Date;
}
