/** Retrying, cancelling or deleting many jobs: by ids, or by a filter, with a dry run first when it matches many. */
import { type Context, errors } from '#core';
import { FilterTooBroad } from '../../errors.ts';
import type { JobFilter } from '../../models/shapes.ts';
import { countJobs, type Selection, selectJobs } from '../rows/queue.ts';

export interface Bulk {
  action: 'retry' | 'cancel' | 'delete';
  ids?: number[];
  filter?: JobFilter;
  reason?: string;
  dryRun: boolean;
  confirm?: string;
}
export interface BulkAnswer {
  matched: number;
  changed: number;
  skippedLocked: number;
  /** Still fitting after this call, which changes 10,000 at most. */
  remaining: number;
  confirm?: string;
}

/** A filter that matches more jobs needs a dry run first. */
const BROAD = 1000;
const MAX_JOBS = 10_000;
const PIECE = 1000;
const CONFIRM_MS = 600_000;

const CHANGES = {
  retry: 'select queue_retry($1, now(), true) as id',
  cancel: 'select queue_cancel($1, $2) as id',
  delete: 'select queue_delete($1) as id',
};

/** Valid for ten to twenty minutes, for this caller, action and filter. */
function confirmation(ctx: Context, { action, filter }: Bulk, back = 0): string {
  const period = Math.floor(Date.now() / CONFIRM_MS) - back;
  return ctx.services.mac('jobs.bulk', JSON.stringify([ctx.actor.id, action, ordered(filter), period])).slice(0, 32);
}
const ordered = (filter: JobFilter = {}) => Object.entries(filter).sort(([a], [b]) => (a < b ? -1 : 1));

/** Throws 400 `FILTER_TOO_BROAD` without the `confirm` of a dry run. Running jobs are skipped and counted. */
export async function changeMany(ctx: Context, bulk: Bulk): Promise<BulkAnswer> {
  const { action, ids, filter, dryRun, reason = 'by an operator' } = bulk;
  if ((ids === undefined) === (filter === undefined))
    throw errors.ValidationFailed({
      details: [{ in: 'payload', path: 'ids', message: 'exactly one of ids and filter is required' }],
    });
  if (action === 'cancel' && bulk.reason === undefined)
    throw errors.ValidationFailed({
      details: [{ in: 'payload', path: 'reason', message: 'reason is required to cancel' }],
    });
  const selection: Selection = ids ? { ids } : { ...filter };
  const matched = await countJobs(ctx, selection);
  const locked =
    (await countJobs(ctx, { ...selection, state: 'running' })) +
    (await countJobs(ctx, { ...selection, state: 'stuck' }));
  const held = filter?.state && filter.state !== 'running' && filter.state !== 'stuck' ? 0 : Math.min(matched, locked);
  if (dryRun) {
    ctx.unchanged();
    const confirm = filter && matched > BROAD ? { confirm: confirmation(ctx, bulk) } : {};
    return { matched, changed: 0, skippedLocked: held, remaining: matched - held, ...confirm };
  }
  const confirmed = bulk.confirm === confirmation(ctx, bulk) || bulk.confirm === confirmation(ctx, bulk, 1);
  if (filter && matched > BROAD && !confirmed) throw FilterTooBroad({ details: [{ matched }] });
  let changed = 0;
  let after = 0;
  while (changed < MAX_JOBS) {
    const rows = await selectJobs(ctx, selection, { after, most: PIECE });
    after = rows.at(-1)?.id ?? 0;
    const piece = rows.filter(({ state }) => state !== 'running' && state !== 'stuck').map(({ id }) => id);
    const values = action === 'cancel' ? [piece, reason] : [piece];
    if (piece.length > 0) changed += (await ctx.sql(CHANGES[action], values)).rows.length;
    if (rows.length < PIECE) break;
  }
  if (changed === 0) ctx.unchanged();
  else {
    const details = { action, matched, changed, skippedLocked: held, ...(ids ? { ids } : { filter }), reason };
    ctx.audit('job.bulk', { resourceType: 'job', details });
  }
  return { matched, changed, skippedLocked: held, remaining: Math.max(0, matched - changed - held) };
}
