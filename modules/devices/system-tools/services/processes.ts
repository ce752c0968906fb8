/** Processes of a device: list, read and end. */
import type { ProcessItem } from '#agent-protocol';
import type { Context } from '#core';
import { GET_PROCESS, KILL_PROCESS, type Kill, LIST_PROCESSES, type ProcessQuery } from '../models/process.ts';
import { listAnswer, requestedPage } from '../models/tool-routes.ts';
import { callTool } from './calls/calls.ts';
import type { ToolInput } from './calls/requests.ts';
import { lineFor } from './redaction.ts';

const ORDER = 'processes';

function shownTo(ctx: Context): <P extends ProcessItem>(process: P) => P {
  const line = lineFor(ctx);
  return (process) => ({ ...process, commandLine: line(process.commandLine) });
}

export async function listProcesses(ctx: Context, input: ToolInput & { query: ProcessQuery }) {
  const { search, sort, sortDir = sort === 'cpu' || sort === 'memory' ? 'desc' : 'asc' } = input.query;
  const page = requestedPage(ORDER, input.query);
  const payload = { ...page, ...(search ? { search } : {}), sort, sortDir };
  const { result } = await callTool(ctx, input, LIST_PROCESSES, { payload: () => payload });
  return listAnswer(ORDER, input.query, { ...result, items: result.items.map(shownTo(ctx)) });
}

export async function readProcess(ctx: Context, input: ToolInput & { params: { pid: number } }) {
  const { pid } = input.params;
  const { result } = await callTool(ctx, input, GET_PROCESS, { payload: () => ({ pid }) });
  return { data: shownTo(ctx)(result) };
}

export async function killProcess(ctx: Context, input: ToolInput & { params: { pid: number }; payload: Kill | null }) {
  const { pid } = input.params;
  const wish = { pid, force: false, ...input.payload };
  const { result } = await callTool(ctx, input, KILL_PROCESS, { payload: () => wish, target: wish });
  return { success: true, pid: result.pid };
}
