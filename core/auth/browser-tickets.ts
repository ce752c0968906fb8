/** Tickets for browsers: they open a stream or a download in place of a header, once, within a minute, for a session that lives. */
import type pg from 'pg';
import type { Context } from '../context/index.ts';
import type { TicketPurpose } from '../contract/index.ts';
import { Unauthenticated } from '../errors.ts';
import { newOpaqueToken, sha256Hex } from './opaque-tokens.ts';

/** How long one may be used. */
export const TICKET_SECONDS = 60;
/** Tickets that were never used, removed with each new one. */
const PRUNED = 100;

const MAKE = `
with gone as (
  delete from browser_tickets where token_hash in (
    select token_hash from browser_tickets where expires_at < now() order by expires_at limit ${PRUNED}))
insert into browser_tickets (token_hash, session_id, purpose, address, expires_at)
values ($1, $2, $3, $4, now() + make_interval(secs => ${TICKET_SECONDS})) returning expires_at`;
const USE = `
delete from browser_tickets where token_hash = $1
returning session_id, purpose, expires_at > now() and (address is null or address = $2::inet) as fits`;

/** A ticket for the caller's session, in the platform's role. Its text is nowhere but in the answer. */
export async function newTicket(ctx: Context, purpose: TicketPurpose): Promise<{ ticket: string; expiresAt: Date }> {
  const { sessionId, ip } = ctx.actor;
  if (!sessionId) throw Unauthenticated();
  const ticket = newOpaqueToken('tkt_');
  const address = ctx.services.config.http.ticketsAtOneAddress ? ip : null;
  const { rows } = await ctx.sql<{ expires_at: Date }>(MAKE, [sha256Hex(ticket), sessionId, purpose, address]);
  const [row] = rows;
  if (!row) throw new Error('the ticket was not stored');
  return { ticket, expiresAt: row.expires_at };
}

/** The session that a ticket stands for; null where it opens nothing here. Whatever it was for, it is used up. */
export async function useTicket(pool: pg.Pool, ticket: string, purpose: string, ip: string): Promise<string | null> {
  if (!/^tkt_[\w-]{20,100}$/.test(ticket)) return null;
  const { rows } = await pool.query<{ session_id: string; purpose: string; fits: boolean }>(USE, [
    sha256Hex(ticket),
    ip,
  ]);
  const [row] = rows;
  return row?.fits && row.purpose === purpose ? row.session_id : null;
}
