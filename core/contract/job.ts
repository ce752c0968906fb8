/** A job: work that runs in the queue. */
import type Joi from 'joi';
import type { Context } from '../context/context.ts';
import type { Schedule } from './schedule.ts';

/** What `jobs/<verb-noun>.ts` declares. The name follows from the path: `tags/rename-tag`, `software/patches/scan`. */
export interface JobDefinition<T = unknown> {
  /** Left out: the loader sets it. */
  name?: string;
  summary: string;
  /** `tenant` runs within one organization under row-level security, `platform` on the platform's database role. */
  scope: 'tenant' | 'platform';
  /** Left out when the job takes no payload. */
  payload?: Joi.ObjectSchema<T>;
  schedule?: Schedule;
  maxAttempts: number;
  /** A person waits for the result: it counts as late after 10 seconds instead of a minute. */
  interactive?: true;
  queue?: string;
  /** The reason why it also runs where its module is off; without one it is skipped there. */
  whenOff?: string;
  run(ctx: Context, payload: T): Promise<void>;
}
/** A job that the loader has found. */
export interface Job<T = unknown> extends JobDefinition<T> {
  name: string;
  payload: Joi.ObjectSchema<T>;
}
// biome-ignore lint/suspicious/noExplicitAny: a registry holds jobs of every payload type
export type AnyJobDefinition = JobDefinition<any>;
// biome-ignore lint/suspicious/noExplicitAny: as above
export type AnyJob = Job<any>;
export const defineJob = <T = Record<string, never>>(job: JobDefinition<T>): AnyJobDefinition => job;
