/** The slot `search.category`: what a category declares, and what it returns. */
import type { Context } from '#core';

export interface SearchTerm {
  /** Trimmed, 1 to 100 characters, as typed: case-insensitive, and no character has a special meaning. */
  readonly text: string;
  /** The maximum number of results; more are dropped. */
  readonly limit: number;
}

/** The quality of a match: a whole field, the beginning of one, or some part. */
export type MatchRank = 0 | 1 | 2;

export interface SearchHit {
  id: string;
  title: string;
  description?: string | null;
  /** Only for settings pages. */
  href?: string;
  place: MatchRank;
}

/** A category of results. Several categories may return the same type. */
export interface SearchCategory {
  /** `devices`, `scripts`, `alerts`, `settings`, `users`, `organizations`, or a word of the module's own. */
  type: string;
  /** The permission of the list that shows the same objects, `resource:action`; null when every user may see them. */
  permission: string | null;
  /**
   * Best matches first: by match quality, then in an order of the category's own. Returns nothing that the caller's lists would
   * not. Uses only the database: each of its statements has one second, and a slower category is left out.
   */
  find(ctx: Context, term: SearchTerm): Promise<SearchHit[]>;
}
