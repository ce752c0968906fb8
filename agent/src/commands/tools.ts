/** Answers the commands of the live tools, each within its time and none with more than the wire takes. */
import type { Tools } from '../tools/contract.ts';
import { ToolError } from '../tools/contract.ts';
import { inTime } from '../tools/in-time.ts';
import type { Handler, Outcome } from './contract.ts';
import { shortened } from './shorten.ts';
import type { Tool } from './tool.ts';
import { CLEARING_MS, FOLDER_TOOLS, TRANSFER_TOOLS } from './tools/files.ts';
import { REGISTRY_TOOLS } from './tools/registry.ts';
import { EVENT_LOG_TOOLS, PROCESS_TOOLS, SERVICE_TOOLS, TASK_TOOLS } from './tools/system.ts';

/** Shorter than the server's 30 s, so that the device reports and the server need not guess; for transfers, of silence. */
const LIMIT_MS = 25_000;

/** The names are the wire's. */
const TOOLS: ReadonlyMap<string, Tool> = new Map(
  Object.entries({
    ...PROCESS_TOOLS,
    ...SERVICE_TOOLS,
    ...REGISTRY_TOOLS,
    ...EVENT_LOG_TOOLS,
    ...TASK_TOOLS,
    ...FOLDER_TOOLS,
  }),
);
/** These go on while their content moves: they limit their own time. */
const STREAMING: ReadonlyMap<string, Tool> = new Map(Object.entries(TRANSFER_TOOLS));
/** These change the machine, or the server waits for their content. */
const NEED_LEAVE =
  /^(kill_process|(start|stop|restart)_service|registry_(set|delete|key_.*)|task_(run|enable|disable)|file_(read|write))$/;

/** Somebody waits for the answer: such commands do not queue behind scripts. */
export function isInteractive(type: string): boolean {
  return TOOLS.has(type) || STREAMING.has(type);
}

/** Such a command may begin before the server has confirmed that it still wants it: it leaves the machine as it is. */
export function isReading(type: string): boolean {
  return isInteractive(type) && !NEED_LEAVE.test(type);
}

/** Handlers for all commands of the tools; without tools for this system each answers UNSUPPORTED_OS. */
export function toolHandlers(tools: Tools | undefined, limitMs = LIMIT_MS): ReadonlyMap<string, Handler> {
  const handler =
    (tool: Tool, limited: boolean): Handler =>
    async (payload, host, { signal, commandId }) => {
      // Not AbortSignal.timeout: nothing would hold the process until it fires, and it would outlive the command.
      const limit = new AbortController();
      const timer = setTimeout(() => limit.abort(), limitMs);
      if (!limited) clearTimeout(timer);
      const both = AbortSignal.any([signal, limit.signal]);
      try {
        if (!tools) throw new ToolError('UNSUPPORTED_OS', 'this agent has no tools for its operating system');
        const work = tool(tools, payload, { signal: both, commandId, host, idleMs: limitMs });
        const result = await inTime(work, both, limited ? 0 : CLEARING_MS);
        return { status: 'completed', result: shortened(result) };
      } catch (fault) {
        if (signal.aborted) return { status: 'failed', error: 'agent stopped while the command ran' };
        return refusedOutcome(fault);
      } finally {
        clearTimeout(timer);
      }
    };
  return new Map([
    ...[...TOOLS].map(([type, tool]): [string, Handler] => [type, handler(tool, true)]),
    ...[...STREAMING].map(([type, tool]): [string, Handler] => [type, handler(tool, false)]),
  ]);
}

/** What the server maps to its own errors; faults without a code are the device's. */
function refusedOutcome(fault: unknown): Outcome {
  const error = fault instanceof Error ? fault.message : String(fault);
  if (!(fault instanceof ToolError)) return { status: 'failed', error };
  return { status: fault.code === 'TIMEOUT' ? 'timeout' : 'failed', error, result: { code: fault.code } };
}
