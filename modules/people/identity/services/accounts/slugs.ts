/** The URL-safe name of a partner, derived from the company name. */
import type { Context } from '#core';

const MOST_SUFFIXES = 100;

/** Lowercase letters and digits, everything else as hyphens, at most 50 characters; `partner` when nothing is left. */
export function slugOf(companyName: string): string {
  const plain = companyName.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const slug = plain
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, 50)
    .replace(/-$/, '');
  return slug || 'partner';
}

/**
 * Calls `insert` with free slugs until it succeeds; it returns null when a concurrent registration took the slug.
 * @returns null when the slug and its hundred suffixes are taken.
 */
export async function insertWithSlug(
  ctx: Context,
  companyName: string,
  insert: (slug: string) => Promise<string | null>,
): Promise<{ id: string; slug: string } | null> {
  const base = slugOf(companyName);
  const candidates = [base, ...Array.from({ length: MOST_SUFFIXES }, (_, index) => `${base}-${index + 1}`)];
  const { rows } = await ctx.sql<{ slug: string }>('select slug from partners where slug = any($1::text[])', [
    candidates,
  ]);
  const taken = new Set(rows.map((row) => row.slug));
  for (const slug of candidates) {
    if (taken.has(slug)) continue;
    const id = await insert(slug);
    if (id) return { id, slug };
  }
  return null;
}
