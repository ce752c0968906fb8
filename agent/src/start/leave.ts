/** `agent uninstall`: reports to the server that the agent is being removed by hand. */
import { createClient } from '../link/client.ts';
import { sayGoodbye } from '../link/goodbye.ts';
import { fileState } from '../store/state.ts';
import { DEFAULT_TIMING } from '../timing.ts';

export async function leaveHere(stateFile: string): Promise<number> {
  const state = await fileState(stateFile).read();
  if (!state) throw new Error(`There is no ${stateFile}; there is no server to notify.`);
  await sayGoodbye(createClient(state.server, DEFAULT_TIMING.request), state);
  console.log('The server knows that this agent is being removed.');
  return 0;
}
