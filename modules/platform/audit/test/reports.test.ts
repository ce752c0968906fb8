/** The three reports and the statistics. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { type ErrorBody, sharedPlatform, tenant } from '#test';
import { COMPLIANCE_ACTIONS, categoryOf, SECURITY_ACTIONS } from '../services/categories.ts';
import { record } from './outbox.ts';

interface Report {
  totalEvents: number;
  byAction: { action: string; count: number }[];
  recentEvents: { action: string }[];
}
interface Activity {
  totalUsers: number;
  totalEvents: number;
  actionsPerUser: { userId: string; userName: string; actionCount: number; lastActiveAt: string }[];
  topUsers: { userId: string }[];
  recentActivity: { action: string }[];
}
const platform = await sharedPlatform();
test.after.always(() => platform.stop());
const report = async <B>(token: string, path: string) =>
  (await platform.call<B & ErrorBody>('GET', `/audit-logs/${path}`, { token })).body;

test('user activity counts per person, most first, and names five and the ten newest entries', async (t) => {
  const { orgId, orgAdmin } = await tenant(platform);
  const users = Array.from({ length: 7 }, () => randomUUID());
  await record(
    platform,
    orgId,
    users.flatMap((actorId, n) =>
      Array.from({ length: n + 1 }, () => ({
        action: 'site.update',
        actorType: 'user' as const,
        actorId,
        actorName: `User ${n}`,
        actorEmail: `u${n}@example.com`,
      })),
    ),
  );
  await record(platform, orgId, [{ action: 'device.update', actorType: 'agent', actorId: randomUUID() }]);
  const body = await report<Activity>(orgAdmin.token, 'reports/user-activity');
  t.like(body, { totalUsers: 7, totalEvents: 28 });
  t.deepEqual(
    body.actionsPerUser.map((one) => one.actionCount),
    [7, 6, 5, 4, 3, 2, 1],
  );
  t.like(body.actionsPerUser[0], { userId: users[6], userName: 'User 6', userEmail: 'u6@example.com' });
  t.is(body.topUsers.length, 5);
  t.is(body.recentActivity.length, 10);
  t.true(Date.parse(body.actionsPerUser[0]?.lastActiveAt ?? '') > Date.now() - 60_000);
});

test('security events are the eight named actions, what else changes permissions, and no others', async (t) => {
  const { orgId, orgAdmin } = await tenant(platform);
  await record(platform, orgId, [
    ...SECURITY_ACTIONS.map((action) => ({ action })),
    { action: 'user.role.assign' },
    { action: 'role.update' },
    { action: 'role.create' },
    { action: 'user.login' },
    { action: 'user.login' },
    { action: 'user.logout' },
    { action: 'policy.delete' },
    { action: 'user.login.failed.twice' },
  ]);
  const body = await report<Report>(orgAdmin.token, 'reports/security-events');
  t.like(body, { totalEvents: 12, loginAttempts: 4, failedLogins: 1, permissionChanges: 3 });
  t.deepEqual(body.byAction[0], { action: 'user.login', count: 3 });
  t.deepEqual(body.byAction.map((one) => one.action).sort(), [
    'agent.source.ip.changed',
    'automation.policy.evaluate',
    'policy.create',
    'policy.evaluate',
    'policy.update',
    'role.update',
    'user.login',
    'user.login.failed',
    'user.permission.change',
    'user.role.assign',
  ]);
  t.is(body.recentEvents[0]?.action, 'user.login');
});

test('compliance counts access, changes and exports among the named actions', async (t) => {
  const { orgId, orgAdmin } = await tenant(platform);
  await record(platform, orgId, [
    ...COMPLIANCE_ACTIONS.map((action) => ({ action })),
    { action: 'data.access' },
    { action: 'site.update' },
  ]);
  const body = await report<Report>(orgAdmin.token, 'reports/compliance');
  t.like(body, { totalEvents: 14, dataAccess: 4, dataChanges: 4, exports: 3 });
  t.deepEqual(body.byAction.map((one) => one.action).sort(), [
    'audit_logs.chain.export',
    'audit_logs.export',
    'audit_logs.export.download',
    'automation.policy.evaluate',
    'data.access',
    'data.export',
    'device.create',
    'device.delete',
    'device.file.download',
    'organization.update',
    'policy.evaluate',
    'policy.update',
    'script.execute',
  ]);
});

test('compliance counts the exports and downloads that the platform records itself', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const { token } = orgAdmin;
  await platform.call('GET', '/audit-logs/export', { token });
  await platform.call('GET', '/audit-logs/chain-export', { token });
  const { body } = await platform.call<{ jobId: string }>('POST', '/audit-logs/exports', { token, body: {} });
  await platform.runJobs();
  t.is(
    (
      await fetch(`${platform.url}/api/v1/audit-logs/exports/${body.jobId}/download`, {
        headers: { authorization: `Bearer ${token}` },
      })
    ).status,
    200,
  );
  await platform.settle();
  t.like(await report<Report>(token, 'reports/compliance'), { totalEvents: 4, dataAccess: 1, exports: 3 });
});

test('a report reads the newest 5,000 entries, the statistics count all', async (t) => {
  const { orgId, orgAdmin } = await tenant(platform);
  const actorId = randomUUID();
  await record(
    platform,
    orgId,
    Array.from({ length: 5003 }, (_, n) => ({
      action: n < 3 ? 'user.login.failed' : 'user.login',
      actorType: 'user' as const,
      actorId,
    })),
  );
  t.like(await report(orgAdmin.token, 'reports/security-events'), { totalEvents: 5000, failedLogins: 0 });
  t.like(await report(orgAdmin.token, 'reports/user-activity'), { totalEvents: 5000, totalUsers: 1 });
  t.like(await report(orgAdmin.token, 'stats'), {
    totalEvents: 5003,
    byUser: [{ userId: actorId, actionCount: 5003 }],
  });
});

test('reports and statistics keep to the range, which the statistics repeat', async (t) => {
  const { orgId, orgAdmin } = await tenant(platform);
  await record(platform, orgId, [
    { action: 'data.access', at: '2026-01-01T00:00:00.000Z' },
    { action: 'data.access', at: '2026-01-02T00:00:00.000Z' },
    { action: 'data.access', at: '2026-01-03T00:00:00.000Z' },
  ]);
  const range = 'from=2026-01-02T00:00:00.000Z&to=2026-01-02T12:00:00.000Z';
  t.like(await report(orgAdmin.token, `reports/compliance?${range}`), { totalEvents: 1 });
  t.deepEqual(await report<object>(orgAdmin.token, `stats?${range}`), {
    totalEvents: 1,
    byCategory: [{ category: 'compliance', count: 1 }],
    byUser: [],
    range: { from: '2026-01-02T00:00:00.000Z', to: '2026-01-02T12:00:00.000Z' },
  } as object);
  t.deepEqual((await report<{ range: object }>(orgAdmin.token, 'stats')).range, { from: null, to: null });
});

test('another tenant’s entries enter no report', async (t) => {
  const [mine, theirs] = [await tenant(platform), await tenant(platform)];
  await record(platform, theirs.orgId, [
    { action: 'data.access' },
    { action: 'user.login', actorType: 'user', actorId: theirs.orgAdmin.id },
  ]);
  for (const path of ['reports/user-activity', 'reports/security-events', 'reports/compliance', 'stats']) {
    for (const { token } of [mine.partner, mine.orgAdmin]) {
      t.is((await report<Report>(token, path)).totalEvents, 0, path);
      t.is((await platform.call('GET', `/audit-logs/${path}?orgId=${theirs.orgId}`, { token })).status, 403);
    }
  }
});

for (const [action, category] of [
  ['user.login', 'authentication'],
  ['user.login.failed', 'authentication'],
  ['user.logout', 'authentication'],
  ['user.permission.change', 'authentication'],
  ['user.invite', 'system'],
  ['device.create', 'device'],
  ['devices.create', 'system'],
  ['script.execute', 'automation'],
  ['policy.update', 'policy'],
  ['automation.policy.evaluate', 'policy'],
  ['automation.run', 'system'],
  ['alert.resolve', 'alert'],
  ['data.access', 'compliance'],
  ['organization.update', 'organization'],
  ['agent.source.ip.changed', 'system'],
] as const) {
  test(`${action} is of the category ${category}`, (t) => {
    t.is(categoryOf(action), category);
  });
}
