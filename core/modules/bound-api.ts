/** Binds the functions of an api to the context of its caller. */
import type { Context } from '../context/index.ts';

const CONTEXT = Symbol('context');
type BoundClass = new (ctx: Context) => object;

/** One class for each api, so that a call of `ctx.use` allocates a single small object. */
const classes = new WeakMap<object, BoundClass>();

function makeClass(members: object): BoundClass {
  class Bound {
    readonly [CONTEXT]: Context;
    constructor(ctx: Context) {
      this[CONTEXT] = ctx;
    }
  }
  for (const [name, member] of Object.entries(members) as [string, unknown][]) {
    if (typeof member !== 'function') {
      Object.defineProperty(Bound.prototype, name, { value: member, enumerable: true });
      continue;
    }
    Object.defineProperty(Bound.prototype, name, {
      enumerable: true,
      // A getter, so that a function that is taken off the object stays bound.
      get(this: Bound) {
        const ctx = this[CONTEXT];
        return (...args: unknown[]): unknown => member(ctx, ...args);
      },
    });
  }
  return Bound;
}

/** The members with every function bound to `ctx`. */
export function bindApi(members: object, ctx: Context): object {
  let bound = classes.get(members);
  if (!bound) {
    bound = makeClass(members);
    classes.set(members, bound);
  }
  return new bound(ctx);
}
