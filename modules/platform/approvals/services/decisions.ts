/** Deciding about a request, and taking it back. */
import { type Context, errors } from '#core';
import { SamePerson, Stale } from '../errors.ts';
import type { Approval } from '../models/approval.ts';
import { isAsker, mustSee, readApproval } from './requests.ts';
import { isStale, requestOf } from './staleness.ts';
import { type Ending, endRequest } from './transitions.ts';

/**
 * Callers see only what they asked for and what they may decide about: its kind's permission and all of its sites and devices are the
 * caller's now. @throws 404, SAME_PERSON, STALE, INVALID_STATE
 */
export async function approve(ctx: Context, id: string, reason?: string) {
  const row = await mustDecide(ctx, id);
  if (row.status === 'pending' && (await isStale(ctx, row, await requestOf(ctx, row)))) throw Stale();
  return end(ctx, row, { status: 'approved', by: decider(ctx), reason });
}

/** @throws 404, SAME_PERSON, INVALID_STATE */
export async function reject(ctx: Context, id: string, reason: string) {
  const row = await mustDecide(ctx, id);
  return end(ctx, row, { status: 'rejected', by: decider(ctx), reason });
}

/** For the asker alone, also of what an API key of theirs asked for. @throws 404, 403, INVALID_STATE */
export async function cancel(ctx: Context, id: string) {
  const row = await mustSee(ctx, id);
  if (!isAsker(ctx, row)) throw errors.Forbidden('Only who asked for it can take it back');
  return end(ctx, row, { status: 'cancelled' });
}

async function mustDecide(ctx: Context, id: string): Promise<Approval> {
  const row = await mustSee(ctx, id);
  if (isAsker(ctx, row)) throw SamePerson();
  return row;
}

const decider = ({ actor }: Context) => ({ id: actor.id ?? '', name: actor.name ?? actor.email ?? '' });

async function end(ctx: Context, { id }: Approval, ending: Ending) {
  if (await endRequest(ctx, id, ending)) return readApproval(ctx, id);
  const { status } = await mustSee(ctx, id);
  const current = status === 'pending' ? 'expired' : status;
  throw errors.InvalidState({ message: `The request is ${current}`, details: [{ current, allowed: ['pending'] }] });
}
