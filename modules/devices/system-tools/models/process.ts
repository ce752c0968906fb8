/** Processes of a device, and the live tools for them. */
import Joi from 'joi';
import { type Paged, PROCESS_SORTS, type ProcessDetail, type ProcessItem, type ProcessSort } from '#agent-protocol';
import { paged, pid, processDetail as wireDetail, processShape as wireProcess } from '#agent-protocol/schemas';
import { named, type PageQuery, pageQuery, searchText } from '#core';
import { shape, type Tool } from './tool.ts';
import { deviceId } from './tool-routes.ts';

export const processShape = named('Process', wireProcess);
export const processDetail = named('ProcessDetail', wireDetail);

export interface ProcessQuery extends PageQuery {
  search?: string;
  sort: ProcessSort;
  sortDir?: 'asc' | 'desc';
}
export const processQuery = Joi.object<ProcessQuery>({
  ...pageQuery(50, 500),
  search: searchText(200).description('Part of the name, the user or the command line'),
  sort: Joi.string()
    .valid(...PROCESS_SORTS)
    .default('cpu')
    .description('The order of the list'),
  sortDir: Joi.string().valid('asc', 'desc').description('Default desc for cpu and memory, asc for name and pid'),
});
export const oneProcess = Joi.object<{ deviceId: string; pid: number }>({ deviceId, pid: pid.required() });

export interface Kill {
  force: boolean;
  expectedName?: string;
  expectedStartTime?: string;
}
export const kill = named(
  'ProcessKill',
  Joi.object<Kill>({
    force: Joi.boolean().default(false),
    expectedName: Joi.string().max(260),
    expectedStartTime: Joi.string()
      .max(40)
      .pattern(/^\d{4}-\d{2}-\d{2}T[\d:.]{5,20}(Z|[+-]\d{2}:\d{2})$/)
      .description('The start time from the list, so that another process which has the pid now is not ended'),
  }),
);

export const LIST_PROCESSES: Tool<Paged<ProcessItem>> = {
  type: 'list_processes',
  group: 'processes',
  result: shape(paged(processShape)),
};
export const GET_PROCESS: Tool<ProcessDetail> = {
  type: 'get_process',
  group: 'processes',
  result: shape(processDetail),
};
export const KILL_PROCESS: Tool<{ pid: number }> = {
  type: 'kill_process',
  group: 'processes',
  result: shape(Joi.object<{ pid: number }>({ pid: pid.required() })),
  audit: 'device.kill_process',
  mutates: true,
};
