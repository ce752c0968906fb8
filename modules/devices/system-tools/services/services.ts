/** Services of a device: list, read, start and stop. */
import type { ServiceDetail, ServiceVerb } from '#agent-protocol';
import type { Context, PageQuery } from '#core';
import { CHANGE_SERVICE, GET_SERVICE, LIST_SERVICES } from '../models/service.ts';
import { listAnswer, requestedPage } from '../models/tool-routes.ts';
import { callTool } from './calls/calls.ts';
import type { ToolInput } from './calls/requests.ts';
import { lineFor } from './redaction.ts';

const ORDER = 'services';

function shownTo(ctx: Context): (service: ServiceDetail) => ServiceDetail {
  const line = lineFor(ctx);
  return (service) => ({ ...service, path: line(service.path) });
}

export async function listServices(
  ctx: Context,
  input: ToolInput & { query: PageQuery & { search?: string; status?: string } },
) {
  const { search, status } = input.query;
  const page = requestedPage(ORDER, input.query);
  const payload = { ...page, ...(search ? { search } : {}), ...(status ? { status } : {}) };
  const { result } = await callTool(ctx, input, LIST_SERVICES, { payload: () => payload });
  return listAnswer(ORDER, input.query, { ...result, items: result.items.map(shownTo(ctx)) });
}

export async function readService(ctx: Context, input: ToolInput & { params: { name: string } }) {
  const { name } = input.params;
  const { result } = await callTool(ctx, input, GET_SERVICE, { payload: () => ({ name }) });
  return { data: shownTo(ctx)(result) };
}

export async function changeService(ctx: Context, verb: ServiceVerb, input: ToolInput & { params: { name: string } }) {
  const { name } = input.params;
  const { result } = await callTool(ctx, input, CHANGE_SERVICE[verb], { payload: () => ({ name }), target: { name } });
  return { success: true, ...result };
}
