/** The kinds of requests that modules declare. */
import { type Actor, type Context, callerHolds } from '#core';
import type { ApprovalKind } from '../slots/kind.ts';

/** Undefined for one whose module is not installed any more. */
export const findKind = (ctx: Context, name: string): ApprovalKind | undefined =>
  ctx.contributions('approvals.kind').find(({ kind }) => kind === name);

/** Throws for a name that no contribution has: a mistake of the module that asks. */
export function mustKnowKind(ctx: Context, name: string): ApprovalKind {
  const kind = findKind(ctx, name);
  if (!kind) throw new Error(`no module contributes the kind ${name} to approvals.kind`);
  return kind;
}

/** The permission to do something is that of a POST. */
export const holds = (actor: Pick<Actor, 'kind' | 'permissions'>, permission: string): boolean =>
  callerHolds(actor, permission, 'POST');

/** Names of the kinds whose deciders have what the caller has. */
export const decidableKinds = (ctx: Context): string[] =>
  ctx.contributions('approvals.kind').flatMap(({ kind, permission }) => (holds(ctx.actor, permission) ? [kind] : []));
