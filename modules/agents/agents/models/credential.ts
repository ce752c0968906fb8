/** A token of an agent: which device and role it speaks for, and in which step of its life it is. */

export type AgentRole = 'agent' | 'watchdog' | 'helper';
export type CredentialState = 'current' | 'previous' | 'pending';
export const ROLES: readonly AgentRole[] = ['agent', 'watchdog', 'helper'];

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

/** The three tokens of a device in the clear; shown once. */
export interface TokenSet {
  authToken: string;
  watchdogAuthToken: string;
  helperAuthToken: string;
}
