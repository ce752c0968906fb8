/** /system-tools/devices/{deviceId}/eventlogs: event logs, read live from a device. */
import { defineRoute } from '#core';
import { eventDetail, eventLogShape, eventQuery, eventShape, oneEvent, oneLog } from '../models/event-log.ts';
import { allOf, listOf, onDevice, oneOf, readAccess, readErrors } from '../models/tool-routes.ts';
import { listEvents, listLogs, readEvent, readLog } from '../services/event-logs.ts';

const base = '/system-tools/devices/{deviceId}/eventlogs';
const look = { method: 'GET', access: readAccess, work: 'none', errors: readErrors } as const;

export default [
  defineRoute({
    ...look,
    path: base,
    summary: 'Lists the event logs of a device',
    params: onDevice,
    response: allOf(eventLogShape),
    handler: (ctx, input) => listLogs(ctx, input),
  }),
  defineRoute({
    ...look,
    path: `${base}/{name}`,
    summary: 'Reads the properties of an event log of a device',
    params: oneLog,
    response: oneOf(eventLogShape),
    handler: (ctx, input) => readLog(ctx, input),
  }),
  defineRoute({
    ...look,
    path: `${base}/{name}/events`,
    summary: 'Lists entries of an event log of a device, newest first',
    params: oneLog,
    query: eventQuery,
    response: listOf(eventShape),
    handler: (ctx, input) => listEvents(ctx, input),
  }),
  defineRoute({
    ...look,
    path: `${base}/{name}/events/{recordId}`,
    summary: 'Reads an entry of an event log of a device',
    params: oneEvent,
    response: oneOf(eventDetail),
    handler: (ctx, input) => readEvent(ctx, input),
  }),
];
