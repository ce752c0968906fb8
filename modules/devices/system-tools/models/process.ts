/** Processes of a device, as its live tools list them. */
import Joi from 'joi';
import { named, type PageQuery, pageQuery } from '#core';
import { shape, type Tool } from './tool.ts';
import { deviceId, type Paged, paged } from './tool-routes.ts';

export interface Process {
  pid: number;
  name: string;
  cpuPercent: number | null;
  memoryMb: number | null;
  user: string | null;
  status: string;
  commandLine: string | null;
  parentPid: number | null;
  threads: number | null;
  startTime: string | null;
}
export interface ProcessDetail extends Process {
  openFiles?: string[];
}

const text = Joi.string().allow('', null).required();
const amount = Joi.number().allow(null).required();
const pid = Joi.number().integer().min(0).max(4_294_967_295);

export const processShape = named(
  'Process',
  Joi.object<Process>({
    pid: pid.required(),
    name: Joi.string().allow('').required(),
    cpuPercent: amount,
    memoryMb: amount,
    user: text,
    status: Joi.string().valid('running', 'sleeping', 'stopped', 'zombie', 'unknown').required(),
    commandLine: text.description('Cut at 1,000 characters; secrets are left out for callers without devices:execute'),
    parentPid: pid.allow(null).required(),
    threads: Joi.number().integer().min(0).allow(null).required(),
    startTime: Joi.string().isoDate().allow(null).required(),
  }),
);
export const processDetail = named(
  'ProcessDetail',
  processShape.append<ProcessDetail>({ openFiles: Joi.array().items(Joi.string()) }),
);

export interface ProcessQuery extends PageQuery {
  search?: string;
  sort: string;
  sortDir?: 'asc' | 'desc';
}
export const processQuery = Joi.object<ProcessQuery>({
  ...pageQuery(50, 500),
  search: Joi.string().trim().max(200).description('Part of the name, the user or the command line'),
  sort: Joi.string().valid('cpu', 'memory', 'name', 'pid').default('cpu').description('What the list is ordered by'),
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
      .description('The start time that the list gave: a process that took over the pid since is left alone'),
  }),
);

export const LIST_PROCESSES: Tool<Paged<Process>> = {
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
