/** Services of a device, as its live tools list them. */
import Joi from 'joi';
import { named, type PageQuery, pageQuery } from '#core';
import { shape, type Tool } from './tool.ts';
import { deviceId, type Paged, paged } from './tool-routes.ts';

export interface Service {
  name: string;
  displayName: string | null;
  status: string;
  startType: string | null;
  account: string | null;
  description: string | null;
  path: string | null;
  dependencies: string[];
}
export interface ServiceChange {
  name: string;
  status: string;
  note?: string;
  restarted?: string[];
}

const text = Joi.string().allow('', null).required();
const STATUSES = ['running', 'stopped', 'paused', 'starting', 'stopping', 'unknown'];
const status = Joi.string().valid(...STATUSES);

export const serviceShape = named(
  'Service',
  Joi.object<Service>({
    name: Joi.string().required(),
    displayName: text,
    status: status.required(),
    startType: Joi.string().valid('auto', 'manual', 'disabled', 'auto_delayed').allow(null).required(),
    account: text,
    description: text,
    path: text.description('Secrets in its arguments are left out for callers without devices:execute'),
    dependencies: Joi.array().items(Joi.string()).required(),
  }),
);
export const changeShape = Joi.object<ServiceChange>({
  name: Joi.string().required(),
  status: status.required(),
  note: Joi.string().description('It was so already'),
  restarted: Joi.array().items(Joi.string()).description('Services that depend on it and were restarted with it'),
});

export const serviceQuery = Joi.object<PageQuery & { search?: string; status?: string }>({
  ...pageQuery(50, 500),
  search: Joi.string().trim().max(200).description('Part of the name or the display name'),
  status: status.description('Only in this state'),
});
export const oneService = Joi.object<{ deviceId: string; name: string }>({
  deviceId,
  name: Joi.string()
    .max(256)
    .pattern(/^[\w .@:$-]+$/)
    .required(),
});

export const LIST_SERVICES: Tool<Paged<Service>> = {
  type: 'list_services',
  group: 'services',
  result: shape(paged(serviceShape)),
};
export const GET_SERVICE: Tool<Service> = { type: 'get_service', group: 'services', result: shape(serviceShape) };

export type ServiceVerb = 'start' | 'stop' | 'restart';
const change = { group: 'services', result: shape(changeShape), mutates: true } as const;
export const CHANGE_SERVICE: Record<ServiceVerb, Tool<ServiceChange>> = {
  start: { ...change, type: 'start_service', audit: 'device.start_service' },
  stop: { ...change, type: 'stop_service', audit: 'device.stop_service' },
  restart: { ...change, type: 'restart_service', audit: 'device.restart_service' },
};

export const serviceChanged = named(
  'ServiceChanged',
  changeShape.append<{ success: boolean }>({ success: Joi.boolean().required() }),
);
