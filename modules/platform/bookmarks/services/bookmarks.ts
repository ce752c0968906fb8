/** Bookmarks: listing, adding, deleting and finding them. */
import { type Context, errors, type PageQuery, page, type SortKey } from '#core';
import { BookmarkLimit } from '../errors.ts';
import added from '../events/added.ts';
import { Bookmark } from '../models/bookmark.ts';

const MAX_BOOKMARKS = 100;
const RETENTION_DAYS = 730;
const BATCH_SIZE = 5000;
const ORDER = {
  name: 'bookmarks',
  keys: [
    { expression: 'bookmarks.created_at', direction: 'desc', type: 'timestamptz' },
    { expression: 'bookmarks.id', direction: 'desc', type: 'uuid' },
  ] satisfies SortKey[],
};

/** Throws 404 for a device out of reach. */
export async function listBookmarks(ctx: Context, deviceId: string, query: PageQuery) {
  await ctx.use('devices').mustExist(deviceId);
  return page(Bookmark.in(ctx).where({ deviceId }), query, ORDER);
}

/** Throws 404 for a device out of reach, BOOKMARK_LIMIT_REACHED. */
export async function addBookmark(ctx: Context, deviceId: string, text: string): Promise<Bookmark> {
  const { orgId } = await ctx.use('devices').mustExist(deviceId);
  if ((await Bookmark.in(ctx).where({ deviceId }).resultSize()) >= MAX_BOOKMARKS) throw BookmarkLimit();
  // reach: mustExist above checks the device
  const bookmark = await Bookmark.query(ctx.trx).insert({ orgId, deviceId, text }).returning('*');
  ctx.audit('bookmark.create', { orgId, resourceId: bookmark.id, details: { deviceId, text } });
  ctx.emit(added, { bookmarkId: bookmark.id, text }, { orgId, deviceId });
  return bookmark;
}

/** Throws 404 for a bookmark out of reach. */
export async function deleteBookmark(ctx: Context, deviceId: string, id: string): Promise<{ success: true }> {
  const [bookmark] = await Bookmark.in(ctx).where({ id, deviceId }).delete().returning('*');
  if (!bookmark) throw errors.NotFound('Bookmark not found');
  ctx.audit('bookmark.delete', { orgId: bookmark.orgId, resourceId: id, details: { deviceId, text: bookmark.text } });
  return { success: true };
}

export async function searchBookmarks(ctx: Context, text: string, limit: number) {
  const found = await Bookmark.in(ctx).whereRaw('position(lower(?) in lower(bookmarks.text)) > 0', [text]).limit(limit);
  return found.map((bookmark) => ({
    id: bookmark.id,
    title: bookmark.text.slice(0, 80),
    description: bookmark.deviceId,
    place: 2 as const,
  }));
}

/** Idempotent: a second run finds nothing. */
export async function deleteExpired(ctx: Context): Promise<void> {
  // reach: retention by the platform role, for all organizations
  await ctx.sql(
    `delete from bookmarks where id in (select id from bookmarks where created_at < now() - make_interval(days => $1) limit $2)`,
    [RETENTION_DAYS, BATCH_SIZE],
  );
}
