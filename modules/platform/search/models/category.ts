/** What fills the slot `search.category`, and what it gives back. */
import type { Context } from '#core';

export interface SearchTerm {
  /** Trimmed, 1 to 100 characters, as it was typed: case does not count, and no character has a meaning of its own. */
  readonly text: string;
  /** The most that can be shown; more are dropped. */
  readonly limit: number;
}

/** How well it fits: a whole field, the beginning of one, or some part. */
export type Place = 0 | 1 | 2;

export interface SearchHit {
  id: string;
  title: string;
  description?: string | null;
  /** Of settings pages only. */
  href?: string;
  place: Place;
}

/** One kind of thing. Several may give the same type. */
export interface SearchCategory {
  /** `devices`, `scripts`, `alerts`, `settings`, `users`, `organizations`, or a word of one's own. */
  type: string;
  /** `resource:action` of the list that shows the same things; null where everybody may know them. */
  permission: string | null;
  /**
   * The best first: by place, then in an order of one's own. Shows nothing that the caller's lists would not. Talks to the
   * database and to nobody else: each of its statements has a second, and what takes longer leaves the category out.
   */
  find(ctx: Context, term: SearchTerm): Promise<SearchHit[]>;
}
