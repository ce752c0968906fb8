/** One command of the live tools. */
import type { Tools } from '../tools/contract.ts';
import type { Handler } from './contract.ts';

/** One command: what it asks of the tools, given its payload. */
export type Tool = (
  tools: Tools,
  payload: Record<string, unknown>,
  run: { signal: AbortSignal; commandId: string; host: Parameters<Handler>[1]; idleMs: number },
) => Promise<unknown>;
