/** A token of an agent: which device and role it speaks for, and in which step of its life it is. */

import type { AgentRole } from '#agent-protocol';

export type CredentialState = 'current' | 'previous' | 'pending';

/** A row of agent_credentials without its hash, as the reading statement names its columns. */
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
