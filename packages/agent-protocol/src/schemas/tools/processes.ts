/** Processes, as live tools return them. */
import Joi from 'joi';
import { PROCESS_STATUSES, type ProcessDetail, type ProcessItem } from '../../tools/processes.ts';
import { optionalText } from './results.ts';

const amount = Joi.number().allow(null).required();
export const pid = Joi.number().integer().min(0).max(4_294_967_295);

export const processShape = Joi.object<ProcessItem>({
  pid: pid.required(),
  name: Joi.string().allow('').required(),
  cpuPercent: amount,
  memoryMb: amount,
  user: optionalText(),
  status: Joi.string()
    .valid(...PROCESS_STATUSES)
    .required(),
  commandLine: optionalText().description(
    'Cut at 1,000 characters; secrets are left out for callers without devices:execute',
  ),
  parentPid: pid.allow(null).required(),
  threads: Joi.number().integer().min(0).allow(null).required(),
  startTime: Joi.string().isoDate().allow(null).required(),
});
export const processDetail = processShape.append<ProcessDetail>({ openFiles: Joi.array().items(Joi.string()) });
