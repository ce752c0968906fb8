/** Starts a plugin in the interpreter to see what it has, as a server does when it is installed. */
import type { WireError } from '../../failures.ts';
import { DEFAULT_LIMITS } from '../../limits.ts';
import { PROTOCOL_VERSION, type StartedPlugin } from '../../protocol/wire.ts';
import { openInterpreter } from './interpreter.ts';

/** Rejects with what the plugin threw. @param folder of the package @param main its file, within the folder */
export async function inspectPlugin(folder: string, main: string): Promise<StartedPlugin> {
  const { promise, resolve, reject } = Promise.withResolvers<StartedPlugin>();
  const { hear } = await openInterpreter({
    ...{ folder, memoryMb: DEFAULT_LIMITS.memoryMb, cpuMsPerCall: DEFAULT_LIMITS.cpuMsPerCall },
    send(line) {
      const said = JSON.parse(line) as { id: string; result?: StartedPlugin; error?: WireError };
      if (said.id !== 'start') return true;
      if (said.result) resolve(said.result);
      else reject(new Error(said.error?.message ?? 'It did not start'));
      return true;
    },
    exit: (ending, reason) => reject(new Error(reason ?? `It ended while it started (${ending})`)),
  });
  hear(JSON.stringify({ id: 'start', method: 'start', params: { protocol: PROTOCOL_VERSION, main } }));
  return promise;
}
