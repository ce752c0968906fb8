/** The contribution that authenticates agents. */
import type { Services } from '../context/services.ts';
import type { AgentAccess } from './access.ts';

export interface AgentIdentity {
  deviceId: string;
  agentId: string;
  orgId: string;
  siteId: string | null;
  partnerId: string;
  role: 'agent' | 'watchdog';
  hostname: string;
}
export interface AgentRequest {
  agentId: string;
  token: string;
  route: AgentAccess;
  ip: string;
  services: Pick<Services, 'get' | 'counters'>;
}
/** Fills `auth.agent`: returns the device that a bearer token belongs to, or throws the error for the agent. */
export interface AgentAuthenticator {
  authenticate(request: AgentRequest): Promise<AgentIdentity>;
}
