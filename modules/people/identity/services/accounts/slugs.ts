/** The URL-safe name of a partner, derived from the company name. */
import { randomBytes } from 'node:crypto';
import type { Context } from '#core';

const MAX_NUMBERS = 100;
const RANDOM_BYTES = 5;

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
 * Calls `insert` with free slugs until it succeeds; it returns null when a concurrent registration took the slug. After the
 * numbers have been used up the suffix is random.
 */
export async function insertWithSlug(
  ctx: Context,
  companyName: string,
  insert: (slug: string) => Promise<string | null>,
): Promise<{ id: string; slug: string }> {
  const base = slugOf(companyName);
  const numbered = [base, ...Array.from({ length: MAX_NUMBERS }, (_, index) => `${base}-${index + 1}`)];
  const { rows } = await ctx.sql<{ slug: string }>('select slug from partners where slug = any($1::text[])', [
    numbered,
  ]);
  const taken = new Set(rows.map((row) => row.slug));
  const free = numbered.filter((slug) => !taken.has(slug));
  for (;;) {
    const slug = free.shift() ?? `${base}-${randomBytes(RANDOM_BYTES).toString('hex')}`;
    const id = await insert(slug);
    if (id) return { id, slug };
  }
}
