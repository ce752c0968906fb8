/** Refuses the commands of a feature that the organization has switched off. */
import type { AgentConfig } from '#agent-protocol';
import { type Feature, isOn } from '../features.ts';
import { isInteractive } from './tools.ts';

/** Why a command is not carried out: a sentence for its result. Undefined where its feature is on, or where it needs none. */
export function switchedOff(config: AgentConfig, type: string): string | undefined {
  const feature = featureOf(type);
  if (!feature || isOn(config, feature)) return undefined;
  return `${type} is refused: ${feature} is switched off for this organization`;
}

function featureOf(type: string): Feature | undefined {
  if (type === 'set_log_level') return 'agent_logs';
  if (type === 'update_agent') return 'updates';
  return isInteractive(type) ? 'remote_tools' : undefined;
}
