/** Scheduled tasks, as live tools return them. */
import Joi from 'joi';
import {
  TASK_STATES,
  type TaskAction,
  type TaskChange,
  type TaskItem,
  type TaskRun,
  type TaskTrigger,
} from '../../tools/tasks.ts';
import { optionalText } from './results.ts';

const word = Joi.string().allow('').required();

export const taskShape = Joi.object<TaskItem>({
  path: Joi.string().required(),
  name: word,
  folder: word,
  state: Joi.string()
    .valid(...TASK_STATES)
    .required(),
  lastRunTime: optionalText(),
  lastRunResult: optionalText(),
  nextRunTime: optionalText(),
  triggers: Joi.array()
    .items(Joi.object<TaskTrigger>({ type: word, schedule: word, enabled: Joi.boolean().required() }))
    .required(),
  actions: Joi.array()
    .items(Joi.object<TaskAction>({ type: word, command: word, arguments: optionalText() }))
    .required()
    .description('Secrets in commands and arguments are left out for callers without devices:execute'),
  author: optionalText(),
  description: optionalText(),
});
export const taskRun = Joi.object<TaskRun>({
  startTime: optionalText(),
  endTime: optionalText(),
  result: optionalText(),
  message: optionalText(),
});
export const taskChange = Joi.object<TaskChange>({ path: Joi.string().required(), note: Joi.string() });
