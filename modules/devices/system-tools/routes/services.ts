/** /system-tools/devices/{deviceId}/services: listing, starting and stopping services. */
import { type AnyRoute, defineRoute } from '#core';
import { oneService, serviceChanged, serviceQuery, serviceShape } from '../models/service.ts';
import { changeAccess, changeErrors, listOf, onDevice, oneOf, readAccess, readErrors } from '../models/tool-routes.ts';
import { changeService, listServices, readService } from '../services/services.ts';

const base = '/system-tools/devices/{deviceId}/services';

export default [
  defineRoute({
    method: 'GET',
    path: base,
    summary: 'Lists the services of a device',
    access: readAccess,
    work: 'none',
    params: onDevice,
    query: serviceQuery,
    response: listOf(serviceShape),
    errors: readErrors,
    handler: (ctx, input) => listServices(ctx, input),
  }),
  defineRoute({
    method: 'GET',
    path: `${base}/{name}`,
    summary: 'Reads a service of a device',
    access: readAccess,
    work: 'none',
    params: oneService,
    response: oneOf(serviceShape),
    errors: readErrors,
    handler: (ctx, input) => readService(ctx, input),
  }),
  ...(['start', 'stop', 'restart'] as const).map(
    (verb): AnyRoute =>
      defineRoute({
        method: 'POST',
        path: `${base}/{name}/${verb}`,
        summary: `${verb === 'stop' ? 'Stops' : `${verb[0]?.toUpperCase()}${verb.slice(1)}s`} a service of a device`,
        description:
          'Answers with the status after the change. A service that has this status already is a success with a note.',
        access: changeAccess,
        work: 'none',
        idempotent: 'handler',
        audit: `device.${verb}_service`,
        params: oneService,
        response: serviceChanged,
        errors: changeErrors,
        handler: (ctx, input) => changeService(ctx, verb, input),
      }),
  ),
];
