/** Answers commands the way a device would, without doing anything to the machine the simulator runs on. */

import { type OsType, POWER_COMMANDS } from '#agent-protocol';
import type { Handler } from '../commands/contract.ts';
import { HANDLERS } from '../commands/handlers.ts';
import { pause } from '../timing.ts';
import { ToolError } from '../tools/contract.ts';
import type { LiveTool } from './live/answers.ts';
import { liveTools } from './live-tools.ts';

const LONGEST_MS = 800;

const script: Handler = async (payload, _host, { signal }) => {
  await pause(50 + Math.random() * LONGEST_MS, signal);
  if (signal.aborted) return { status: 'failed', error: 'agent stopped while the command ran' };
  const lines = typeof payload.content === 'string' ? payload.content.split('\n').length : 0;
  const stdout = `simulated: ${lines} lines of ${String(payload.language)} were not run\n`;
  return { status: 'completed', exitCode: 0, stdout, stderr: '' };
};

const power: Handler = async () => ({ status: 'completed', result: { simulated: true } });

/** A tool of an invented machine as the handler of its command; what it refuses travels as the real tools send it. */
const toolHandler =
  (tool: LiveTool): Handler =>
  async (payload) => {
    try {
      return { status: 'completed', result: tool(payload) };
    } catch (fault) {
      if (!(fault instanceof ToolError)) throw fault;
      return { status: 'failed', error: fault.message, result: { code: fault.code } };
    }
  };

/** The reference handlers, with the ones that would touch the host replaced by those of one invented machine. */
export const simulatedHandlers = (osType: OsType, hostname: string): ReadonlyMap<string, Handler> =>
  new Map([
    ...HANDLERS,
    ['script', script],
    ...POWER_COMMANDS.map((type): [string, Handler] => [type, power]),
    ...[...liveTools(osType, hostname)].map(([type, tool]): [string, Handler] => [type, toolHandler(tool)]),
  ]);
