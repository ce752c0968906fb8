/** The position of a caller that follows a list: how far it has read, where the position is valid, and for whom. */
import { createHash } from 'node:crypto';
import type { Context } from '../../context/index.ts';
import { InvalidCursor } from '../../errors.ts';

export interface SyncPosition {
  kind: string;
  /** The database cluster, in whose transactions it counts. */
  cluster: string;
  /** Digests of what the caller reaches and of what the list was asked for. */
  reach: string;
  asked: string;
  /** Changes from this transaction on are still to be read. */
  from: string;
  /** Within that transaction, the id read last. */
  id: string | null;
  /** While all rows are walked through: the order's values of the last one; empty at the beginning. */
  walk: string[] | null;
}

const MARK = 'sync';
const XID = /^\d{1,19}$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function encodePosition({ kind, cluster, reach, asked, from, id, walk }: SyncPosition): string {
  return Buffer.from(JSON.stringify([MARK, kind, cluster, reach, asked, from, id, walk])).toString('base64url');
}

function partsOf(cursor: string): unknown[] | null {
  try {
    const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as unknown;
    return Array.isArray(parts) && parts[0] === MARK ? parts : null;
  } catch {
    return null;
  }
}

export const isSyncCursor = (cursor: string | undefined): boolean => Boolean(cursor) && partsOf(cursor ?? '') !== null;

/** Throws INVALID_CURSOR for what this list did not issue. */
export function decodePosition(cursor: string, kind: string, width: number): SyncPosition {
  const parts = partsOf(cursor);
  if (parts?.length !== 8 || parts[1] !== kind) throw InvalidCursor();
  const [, , cluster, reach, asked, from, id, walk] = parts;
  const texts = [cluster, reach, asked, from].every((part) => typeof part === 'string');
  const isId = (value: unknown) => typeof value === 'string' && UUID.test(value);
  const walks =
    walk === null || (Array.isArray(walk) && (walk.length === 0 || walk.length === width) && walk.every(isId));
  // Of a transaction's number the database takes 64 bits.
  if (!texts || !XID.test(String(from)) || !(id === null || isId(id)) || !walks) throw InvalidCursor();
  if (BigInt(String(from)) > 0x7f_ff_ff_ff_ff_ff_ff_ffn) throw InvalidCursor();
  return { kind, cluster, reach, asked, from, id, walk } as SyncPosition;
}

const digest = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 16);

/**
 * What the caller reaches. Who reaches all organizations of a partner keeps the position when one is added, since all of it is
 * a change; when one goes, its rows would not be told of any more.
 */
export function reachDigest({ scope }: Context, unreached: string | null): string {
  const { kind, partnerId, orgId, orgIds, allOrgs, siteIds, groupIds, excluded } = scope;
  const sorted = (ids: readonly string[] | null | undefined) => (ids ? [...ids].sort() : null);
  const orgs = allOrgs ? unreached : sorted(orgIds);
  return digest([kind, partnerId, orgId, allOrgs, orgs, sorted(siteIds), sorted(groupIds), sorted(excluded?.orgIds)]);
}

/** What the list was asked for, besides how much of it and where to go on. */
export function askedDigest(query: object): string {
  const beside = new Set(['cursor', 'limit', 'page', 'updatedSince', 'include']);
  return digest(
    Object.entries(query)
      .filter(([name, value]) => !beside.has(name) && value !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}
