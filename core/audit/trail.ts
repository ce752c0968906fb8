/** What the trail's machinery needs of the platform: a connection, and the keys that the database does not have. */
import { timingSafeEqual } from 'node:crypto';
import type { QueryResultRow } from 'pg';
import type { Context, Services } from '../context/index.ts';

/** Where rows are read and written: a pool, a client, or a context's own connection, always in the platform's role. */
export interface Store {
  query<R extends QueryResultRow>(text: string, values?: unknown[]): Promise<{ rows: R[] }>;
}

export interface Trail extends Store {
  /** The platform's HMAC: a proof beside a row, which access to the database alone is not enough to forge. */
  readonly mac: Services['mac'];
  readonly seal: Services['seal'];
}

/** The trail over a context's own transaction; the context must work in the platform's role. */
export const trailOf = (ctx: Context): Trail => ({
  query: (text, values) => ctx.sql(text, values),
  mac: ctx.services.mac,
  seal: ctx.services.seal,
});

/** Whether a proof is the one that this installation would make. */
export function isAuthentic(trail: Pick<Trail, 'mac'>, purpose: string, text: string, proof: string): boolean {
  const right = Buffer.from(trail.mac(purpose, text));
  const given = Buffer.from(proof);
  return right.length === given.length && timingSafeEqual(right, given);
}
