/** Tells the server that this agent is being removed by hand. */
import type { AgentState } from '../store/state.ts';
import type { Call } from './client.ts';

/** Rejects when the server did not hear it; the removal need not wait for that. */
export async function sayGoodbye(
  call: Call,
  { agentId, tokens }: Pick<AgentState, 'agentId' | 'tokens'>,
): Promise<void> {
  await call('POST', `/agents/${agentId}/uninstall-intent`, { body: {}, token: tokens.authToken });
}
