/** Event logs of a device, read live and converted to the terms of the API. */
import type { EventItem } from '#agent-protocol';
import { type Context, errors } from '#core';
import { type EventQuery, GET_EVENT, LIST_LOGS, QUERY_EVENTS, SHOWN_LEVELS } from '../models/event-log.ts';
import { listAnswer, requestedPage } from '../models/tool-routes.ts';
import { callTool } from './calls/calls.ts';
import type { ToolInput } from './calls/requests.ts';

const ORDER = 'events';
const AGENT_LEVELS = Object.fromEntries(Object.entries(SHOWN_LEVELS).map(([agent, shown]) => [shown, agent]));

export async function listLogs(ctx: Context, input: ToolInput) {
  const { result } = await callTool(ctx, input, LIST_LOGS, { payload: () => ({}) });
  return { data: result.items };
}

/** Throws 404 where the list of the device has no log of that name; the case of the name is ignored. */
export async function readLog(ctx: Context, input: ToolInput & { params: { name: string } }) {
  const { data } = await listLogs(ctx, input);
  const wanted = input.params.name.toLowerCase();
  const found = data.find(({ name }) => name.toLowerCase() === wanted);
  if (!found) throw errors.NotFound('The device has no such event log');
  return { data: found };
}

export async function listEvents(ctx: Context, input: ToolInput & { params: { name: string }; query: EventQuery }) {
  const { level, source, startTime, endTime, eventId } = input.query;
  const payload = {
    log: input.params.name,
    ...requestedPage(ORDER, input.query),
    ...(level ? { level: AGENT_LEVELS[level] } : {}),
    ...(source ? { source } : {}),
    ...(startTime ? { startTime: startTime.toISOString() } : {}),
    ...(endTime ? { endTime: endTime.toISOString() } : {}),
    ...(eventId ? { eventId } : {}),
  };
  const { result } = await callTool(ctx, input, QUERY_EVENTS, { payload: () => payload });
  return listAnswer(ORDER, input.query, { ...result, items: result.items.map(shown) });
}

export async function readEvent(ctx: Context, input: ToolInput & { params: { name: string; recordId: string } }) {
  const { name: log, recordId } = input.params;
  const { result } = await callTool(ctx, input, GET_EVENT, { payload: () => ({ log, recordId }) });
  const { rawXml, ...details } = result.details;
  const category = result.category ?? details.category ?? null;
  return { data: { ...shown({ ...result, category }), details, ...(rawXml ? { rawXml } : {}) } };
}

function shown({ recordId, timestamp, level, eventId, category = null, ...item }: EventItem) {
  const { source, message, user, computer } = item;
  const place = { recordId: numbered(recordId), timeCreated: timestamp, level: SHOWN_LEVELS[level] };
  return { ...place, source, category, eventId: eventId === null ? null : numbered(eventId), message, user, computer };
}

/** Numeric ids are numbers in the API. Not every system numbers its records and events. */
function numbered(id: string): number | string {
  return /^\d{1,15}$/.test(id) ? Number(id) : id;
}
