/** The caller's own notices: listed, counted, marked and removed. */
import { createHash } from 'node:crypto';
import { type Context, errors, mustAccessOrg, page, type Reply, reply, type SortKey } from '#core';
import { Notification, type NotificationQuery, type ReadMarks, showNotification } from '../../models/notification.ts';

const ORDER = {
  name: 'notifications',
  keys: [
    { expression: 'user_notifications.last_occurred_at', direction: 'desc', type: 'timestamptz' },
    { expression: 'user_notifications.id', direction: 'desc', type: 'uuid' },
  ] satisfies SortKey[],
};
/** Unread notifications are counted up to this number. */
const MAX_COUNTED = 101;

/** Own ones, as far as the caller still reaches what they are about. */
function own(ctx: Context) {
  const query = Notification.in(ctx).where({
    'user_notifications.userId': ctx.actor.id,
    'user_notifications.inApp': true,
  });
  // Those of the installation are for system callers; of a partner, for its own people.
  if (ctx.scope.kind === 'system') return query;
  return query.where((about) => {
    about.whereNotNull('user_notifications.orgId');
    if (ctx.scope.partnerId) about.orWhere('user_notifications.partnerId', ctx.scope.partnerId);
  });
}

async function countUnread(ctx: Context): Promise<number> {
  const found = await own(ctx)
    .where('user_notifications.read', false)
    .limit(MAX_COUNTED)
    .select(Notification.raw('1 as one'));
  return found.length;
}

export async function listNotifications(ctx: Context, { offset, ...query }: NotificationQuery) {
  const { unreadOnly, type, priority, orgId, limit } = query;
  const found = own(ctx);
  if (unreadOnly) found.where('user_notifications.read', false);
  if (type) found.where('user_notifications.type', type);
  if (priority) found.where('user_notifications.priority', priority);
  if (orgId) {
    mustAccessOrg(ctx, orgId);
    found.where('user_notifications.orgId', orgId);
  }
  const { data, pagination } =
    offset === undefined ? await page(found, query, ORDER, showNotification) : await pageFrom(found, limit, offset);
  const unreadCount = await countUnread(ctx);
  const { total, page: number } = pagination as { total?: number; page?: number };
  const passed = offset ?? (number === undefined ? undefined : (number - 1) * limit);
  return {
    ...{ notifications: data, data, pagination, unreadCount, limit },
    ...(total === undefined ? {} : { total }),
    ...(passed === undefined ? {} : { offset: passed }),
  };
}

async function pageFrom(found: ReturnType<typeof own>, limit: number, offset: number) {
  const total = await found.clone().resultSize();
  for (const { expression, direction } of ORDER.keys) found.orderByRaw(`${expression} ${direction}`);
  const rows = await found.limit(limit).offset(offset);
  return { data: rows.map(showNotification), pagination: { limit, total } };
}

/** The answer has an ETag, so that polling clients get a short 304 while nothing has changed. */
export async function unreadCount(ctx: Context): Promise<Reply> {
  const count = Math.min(await countUnread(ctx), MAX_COUNTED - 1);
  const tag = createHash('sha256').update(`${ctx.actor.sessionId} ${count}`).digest('base64url').slice(0, 22);
  return reply({ count }, { headers: { etag: `"${tag}"`, 'cache-control': 'private, no-cache' } });
}

/** Unread again, it stands for itself: repeats of the same thing make a notice of their own. */
const marks = (read: boolean) => (read ? { read, readAt: new Date() } : { read, readAt: null, dedupeKey: null });

/** Throws 404, also for what belongs to another user. */
export async function markNotification(ctx: Context, id: string, read: boolean) {
  const before = await own(ctx).findById(id).forNoKeyUpdate();
  if (!before) throw errors.NotFound('Notification not found');
  if (before.read === read) return { data: showNotification(before) };
  // reach: own() above has found and locked the notice within reach
  const after = await Notification.query(ctx.trx).where({ id, read: !read }).patch(marks(read)).returning('*').first();
  if (!after) throw errors.NotFound('Notification not found');
  return { data: showNotification(after) };
}

export async function markNotifications(ctx: Context, { ids, before }: ReadMarks) {
  const unread = own(ctx).where('user_notifications.read', false);
  if (ids) unread.whereIn('user_notifications.id', ids);
  // Callers know times to the millisecond.
  if (before) unread.where('user_notifications.lastOccurredAt', '<', new Date(before.getTime() + 1));
  const updated = await unread.patch(marks(true));
  if (updated === 0) ctx.unchanged();
  else ctx.audit('notification.read.mark', { resourceType: 'notification', details: { updated } });
  return { updated };
}

/** Throws 404. */
export async function deleteNotification(ctx: Context, id: string) {
  const deleted = await own(ctx).findById(id).delete();
  if (deleted === 0) throw errors.NotFound('Notification not found');
  ctx.audit('notification.delete', { resourceType: 'notification', resourceId: id });
  return { success: true };
}

export async function deleteNotifications(ctx: Context, readOnly: boolean) {
  const found = own(ctx);
  if (readOnly) found.where('user_notifications.read', true);
  const deleted = await found.delete();
  if (deleted === 0) ctx.unchanged();
  else ctx.audit('notification.delete_all', { resourceType: 'notification', details: { deleted, readOnly } });
  return { deleted };
}
