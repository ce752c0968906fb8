/** Cuts a list that was sorted and filtered on the device into the page that was asked for. */
import type { Page, Paged } from '#agent-protocol';

export function pageOf<T>(items: readonly T[], { page, limit }: Page): Paged<T> {
  return { items: items.slice((page - 1) * limit, page * limit), total: items.length };
}

/** Whether one of the texts contains what was searched for, whatever its case; everything matches no search. */
export function matches(search: string | undefined, ...texts: (string | null | undefined)[]): boolean {
  const wanted = search?.trim().toLowerCase();
  return !wanted || texts.some((text) => text?.toLowerCase().includes(wanted));
}
