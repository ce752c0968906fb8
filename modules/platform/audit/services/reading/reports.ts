/** The three reports; each reads at most the newest 5,000 entries of its kind. */
import type { Context } from '#core';
import type { ReportQuery } from '../../models/audit-report.ts';
import { COMPLIANCE_ACTIONS, DATA_ACCESS, EXPORTS, PERMISSION_CHANGES, SECURITY_ACTIONS } from '../categories.ts';
import { entriesOf } from './entries.ts';
import { newest, select } from './selection.ts';

const MAX_ENTRIES = 5000;

interface Seen {
  id: string;
  timestamp: Date;
  action: string;
  actorType: string;
  actorId: string;
  actorName: string | null;
  actorEmail: string | null;
}
const SEEN = `l.id, l.timestamp, l.action, l.actor_type as "actorType", l.actor_id as "actorId", l.actor_name as "actorName",
  l.actor_email as "actorEmail"`;

async function newestOf(ctx: Context, query: ReportQuery, only: { actions?: readonly string[]; people?: boolean }) {
  const selection = select(ctx, { ...query, ...(only.actions ? { actions: only.actions } : {}) });
  if (only.people) selection.conditions.push(`l.actor_type = 'user'`);
  const { text, values } = newest(selection, { limit: MAX_ENTRIES, columns: SEEN });
  const { rows } = await ctx.sql<Seen>(text, values);
  return rows;
}

const recent = (ctx: Context, rows: readonly Seen[]) =>
  entriesOf(
    ctx,
    rows.slice(0, 10).map((row) => row.id),
  );

function counted(rows: readonly Seen[]): {
  byAction: { action: string; count: number }[];
  of(...actions: string[]): number;
} {
  const groups = Map.groupBy(rows, (row) => row.action);
  const byAction = [...groups].map(([action, { length }]) => ({ action, count: length }));
  byAction.sort((a, b) => b.count - a.count || (a.action < b.action ? -1 : 1));
  return { byAction, of: (...actions) => actions.reduce((sum, action) => sum + (groups.get(action)?.length ?? 0), 0) };
}

/** Actions of users; API keys, agents and the system are left out. */
export async function userActivity(ctx: Context, query: ReportQuery) {
  const rows = await newestOf(ctx, query, { people: true });
  const actionsPerUser = [...Map.groupBy(rows, (row) => row.actorId)].map(([userId, [latest, ...earlier]]) => ({
    userId,
    userName: latest?.actorName ?? null,
    userEmail: latest?.actorEmail ?? null,
    actionCount: 1 + earlier.length,
    lastActiveAt: latest?.timestamp,
  }));
  actionsPerUser.sort((a, b) => b.actionCount - a.actionCount || (a.userId < b.userId ? -1 : 1));
  return {
    totalUsers: actionsPerUser.length,
    totalEvents: rows.length,
    actionsPerUser,
    topUsers: actionsPerUser.slice(0, 5),
    recentActivity: await recent(ctx, rows),
  };
}

export async function securityEvents(ctx: Context, query: ReportQuery) {
  const rows = await newestOf(ctx, query, { actions: [...new Set([...SECURITY_ACTIONS, ...PERMISSION_CHANGES])] });
  const { byAction, of } = counted(rows);
  return {
    totalEvents: rows.length,
    loginAttempts: of('user.login', 'user.login.failed'),
    failedLogins: of('user.login.failed'),
    permissionChanges: of(...PERMISSION_CHANGES),
    byAction,
    recentEvents: await recent(ctx, rows),
  };
}

export async function compliance(ctx: Context, query: ReportQuery) {
  const rows = await newestOf(ctx, query, { actions: COMPLIANCE_ACTIONS });
  const { byAction, of } = counted(rows);
  return {
    totalEvents: rows.length,
    dataAccess: of(...DATA_ACCESS),
    dataChanges: of('device.create', 'device.delete', 'policy.update', 'organization.update'),
    exports: of(...EXPORTS),
    byAction,
    recentEvents: await recent(ctx, rows),
  };
}
