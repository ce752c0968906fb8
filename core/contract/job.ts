/** A job: work that runs in the queue. */
import type Joi from 'joi';
import type { Context } from '../context/context.ts';
import type { Schedule } from './schedule.ts';

export interface Job<T = unknown> {
  name: string;
  summary: string;
  scope: 'tenant' | 'platform';
  payload: Joi.ObjectSchema<T>;
  schedule?: Schedule;
  maxAttempts: number;
  /** Somebody waits for it: it counts as late after 10 s instead of a minute. */
  interactive?: true;
  queue?: string;
  /** Why it runs also where its module is off, as what retention and halves of a change must; else it is skipped there. */
  whenOff?: string;
  run(ctx: Context, payload: T): Promise<void>;
}
// biome-ignore lint/suspicious/noExplicitAny: a registry holds jobs of every payload type
export type AnyJob = Job<any>;
export const defineJob = <T>(job: Job<T>): AnyJob => job;
