/** What the agent leaves alone because the organization has switched the feature off. */
import type { AgentConfig } from '#agent-protocol';

export type Feature = 'agent_logs' | 'event_logs' | 'updates' | 'remote_tools';

/** Older servers name no features: all are on. */
export function isOn({ features }: AgentConfig, feature: Feature): boolean {
  return features?.[feature] !== false;
}
