/** Services of a device, and the live tools for them. */
import Joi from 'joi';
import type { Paged, ServiceChange, ServiceDetail, ServiceVerb } from '#agent-protocol';
import { paged, serviceChange, serviceStatus, serviceShape as wireService } from '#agent-protocol/schemas';
import { named, type PageQuery, pageQuery, searchText } from '#core';
import { shape, type Tool } from './tool.ts';
import { deviceId } from './tool-routes.ts';

export const serviceShape = named('Service', wireService);

export const serviceQuery = Joi.object<PageQuery & { search?: string; status?: string }>({
  ...pageQuery(50, 500),
  search: searchText(200).description('Part of the name or the display name'),
  status: serviceStatus.description('Only in this state'),
});
export const oneService = Joi.object<{ deviceId: string; name: string }>({
  deviceId,
  name: Joi.string()
    .max(256)
    .pattern(/^[\w .@:$-]+$/)
    .required(),
});

export const LIST_SERVICES: Tool<Paged<ServiceDetail>> = {
  type: 'list_services',
  group: 'services',
  result: shape(paged(serviceShape)),
};
export const GET_SERVICE: Tool<ServiceDetail> = { type: 'get_service', group: 'services', result: shape(serviceShape) };

const change = { group: 'services', result: shape(serviceChange), mutates: true } as const;
export const CHANGE_SERVICE: Record<ServiceVerb, Tool<ServiceChange>> = {
  start: { ...change, type: 'start_service', audit: 'device.start_service' },
  stop: { ...change, type: 'stop_service', audit: 'device.stop_service' },
  restart: { ...change, type: 'restart_service', audit: 'device.restart_service' },
};

export const serviceChanged = named(
  'ServiceChanged',
  serviceChange.append<{ success: boolean }>({ success: Joi.boolean().required() }),
);
