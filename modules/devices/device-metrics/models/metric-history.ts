/** The history of a device's metrics: query and response. */
import Joi from 'joi';
import { metricEntries } from '#agent-protocol';

/** Seconds of one point by the name of the resolution. */
export const RESOLUTIONS = { '5m': 300, '1h': 3600, '1d': 86_400 } as const;
export type Resolution = keyof typeof RESOLUTIONS;

export interface MetricQuery {
  from?: Date;
  to?: Date;
  resolution?: Resolution;
}
export const metricQuery = Joi.object<MetricQuery>({
  from: Joi.date().iso().description('A day before `to` when absent'),
  to: Joi.date().iso().description('Now when absent'),
  resolution: Joi.string()
    .valid(...Object.keys(RESOLUTIONS))
    .description(
      'By the length of the range when absent: a point every 5 minutes up to two days, hour up to 31, else day',
    ),
});

const number = Joi.number().allow(null).required();
const point = Joi.object({
  at: Joi.date().iso().required(),
  samples: Joi.number().integer().required(),
  ...Object.fromEntries(
    metricEntries.flatMap(([name, unit]) => [[name, number], ...(unit === 'percent' ? [[`${name}Max`, number]] : [])]),
  ),
});
export const metricHistory = Joi.object({
  data: Joi.object({
    from: Joi.date().iso().required(),
    to: Joi.date().iso().required(),
    resolution: Joi.string()
      .valid(...Object.keys(RESOLUTIONS))
      .required(),
    points: Joi.array().items(point).required(),
  }).required(),
});
