/** Runs every category that the caller may read, each under its own time limit. */
import type { Context } from '#core';
import type { SearchCategory, SearchHit, SearchTerm } from '../models/category.ts';
import type { SearchQuery, SearchResult } from '../models/result.ts';
import { mayRead } from './permissions.ts';

/** Milliseconds for each statement of a category. */
const STATEMENT_LIMIT = 1000;
/** The first categories in this order; others follow by name. */
const ORDER = ['devices', 'scripts', 'alerts', 'settings', 'users', 'organizations'];
const orderOf = (type: string) => (ORDER.includes(type) ? ORDER.indexOf(type) : ORDER.length);

interface Asked {
  value: SearchCategory;
  /** The organizations for which its module is on; null for all. */
  orgIds: readonly string[] | null;
}

/** The results of a category; a fault or a time-out leaves it out and restores the transaction. */
async function found(ctx: Context, { value: category, orgIds }: Asked, term: SearchTerm): Promise<SearchHit[]> {
  await ctx.sql('savepoint search_category');
  try {
    const hits = await ctx.within(orgIds, (narrow) => category.find(narrow, term));
    await ctx.sql('release savepoint search_category');
    return hits;
  } catch (error) {
    await ctx.sql('rollback to savepoint search_category');
    ctx.log.warn({ err: error, category: category.type }, 'search category failed');
    return [];
  }
}

/**
 * The best of all categories: whole names, then beginnings, then parts. When there are more than the limit, categories
 * alternate within each of the three, so that a thousand devices do not hide the one user of that name.
 */
function best(lists: { type: string; hits: SearchHit[] }[], limit: number) {
  const all = lists.flatMap(({ type, hits }, category) => {
    const turns: [number, number, number] = [0, 0, 0];
    return hits.map((hit) => ({ ...hit, type, category, turn: turns[hit.place]++ }));
  });
  return all
    .sort((a, b) => a.place - b.place || a.turn - b.turn || a.category - b.category)
    .slice(0, limit)
    .sort((a, b) => a.place - b.place || a.category - b.category || a.turn - b.turn);
}

export async function search(ctx: Context, { q, limit }: SearchQuery): Promise<{ results: SearchResult[] }> {
  const categories = ctx
    .fillingsWithin('search.category')
    .filter(({ value: { permission } }) => mayRead(ctx, permission))
    .toSorted(({ value: a }, { value: b }) => orderOf(a.type) - orderOf(b.type) || (a.type < b.type ? -1 : 1));
  await ctx.sql(`set local statement_timeout = ${STATEMENT_LIMIT}`);
  const lists: { type: string; hits: SearchHit[] }[] = [];
  // Sequentially: they share a connection.
  for (const category of categories) {
    lists.push({ type: category.value.type, hits: await found(ctx, category, { text: q, limit }) });
  }
  return {
    results: best(lists, limit).map(({ id, type, title, description, href }) => ({
      id,
      type,
      title,
      ...(description ? { description } : {}),
      ...(href ? { href } : {}),
    })),
  };
}
