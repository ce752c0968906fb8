/** Scheduled tasks of a device: list, read, run, enable and disable. */
import type { TaskItem, TaskVerb } from '#agent-protocol';
import type { Context } from '#core';
import { CHANGE_TASK, GET_TASK, type HistoryQuery, LIST_TASKS, TASK_HISTORY, type TaskQuery } from '../models/task.ts';
import { listAnswer, requestedPage } from '../models/tool-routes.ts';
import { callTool } from './calls/calls.ts';
import type { ToolInput } from './calls/requests.ts';
import { lineFor } from './redaction.ts';

const ORDER = 'tasks';
type OneTask = ToolInput & { params: { path: string }; query: { path?: string } };

const pathOf = ({ params, query }: OneTask): string => query.path ?? params.path;

function shownTo(ctx: Context): (task: TaskItem) => TaskItem {
  const line = lineFor(ctx);
  return (task) => ({
    ...task,
    actions: task.actions.map((one) => ({ ...one, command: line(one.command), arguments: line(one.arguments) })),
  });
}

export async function listTasks(ctx: Context, input: ToolInput & { query: TaskQuery }) {
  const { folder, search } = input.query;
  const payload = { ...requestedPage(ORDER, input.query), folder, ...(search ? { search } : {}) };
  const { result } = await callTool(ctx, input, LIST_TASKS, { payload: () => payload });
  return listAnswer(ORDER, input.query, { ...result, items: result.items.map(shownTo(ctx)) });
}

export async function readTask(ctx: Context, input: OneTask) {
  const path = pathOf(input);
  const { result } = await callTool(ctx, input, GET_TASK, { payload: () => ({ path }) });
  return { data: shownTo(ctx)(result) };
}

export async function taskHistory(ctx: Context, input: OneTask & { query: HistoryQuery }) {
  const payload = { path: pathOf(input), limit: input.query.limit };
  const { result } = await callTool(ctx, input, TASK_HISTORY, { payload: () => payload });
  return { data: result.items };
}

export async function changeTask(ctx: Context, verb: TaskVerb, input: OneTask) {
  const path = pathOf(input);
  const { result } = await callTool(ctx, input, CHANGE_TASK[verb], { payload: () => ({ path }), target: { path } });
  return { success: true, ...result };
}
