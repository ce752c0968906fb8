/** The hint that messages of a queue are due: it wakes the dispatchers, which would find them at their next poll anyway. */
import type { Context } from '../context/index.ts';

export const dueHint = (queue: string): string => `${queue}.due`;

/** Tells every worker after the commit that messages were added to the queue of this name, or became due. */
export const announceDue = (ctx: Context, queue: string): void => ctx.hint(dueHint(queue), '');
