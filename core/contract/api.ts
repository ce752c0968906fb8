/** The api of a module: functions that other modules call through `ctx.use`. */
import type { Context } from '../context/context.ts';

/**
 * Declares the functions of an api. Each takes the context first; `ctx.use(module)` binds it. What is no function is offered as it
 * is.
 */
export const defineApi = <T extends object>(members: T): T => members;

/**
 * The type of `ctx.use(module)`: the functions without their context. A generic function loses its type parameters here, so name
 * its type where the module widens `Apis`: `Omit<BoundApi<typeof api>, 'limited'> & { limited<T>(…): Promise<T> }`.
 */
export type BoundApi<T> = {
  readonly [K in keyof T]: T[K] extends (ctx: Context, ...args: infer A) => infer R ? (...args: A) => R : T[K];
};
