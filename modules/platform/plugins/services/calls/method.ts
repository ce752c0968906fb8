/** One method of the host API. */
import type { Context } from '#core';
import type { Facts } from '../running/facts.ts';
import type { Invocation } from '../running/process/invocation.ts';

export interface Asked {
  /** Of a place that is an organization. */
  facts: Facts & { orgId: string };
  invocation: Invocation;
}
// biome-ignore lint/suspicious/noExplicitAny: the params were held to the schema of the method, which names their type
export type Method = (ctx: Context, params: any, asked: Asked) => Promise<unknown>;
