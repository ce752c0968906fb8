/** Switching modules at the three levels: what is allowed, what goes with it, and what the trail says. */
import test from 'ava';
import { type Called, type ErrorBody, organization, partnerUser, startTestPlatform, systemUser, tenant } from '#test';

const platform = await startTestPlatform({ PLANS_WITHOUT: 'free:sso' });
const admin = await systemUser(platform);
test.after.always(() => platform.stop());

interface State {
  data: { key: string; level: string; enabled: boolean; reason: string | null; changed: string[]; locked: boolean };
}
type Answer = Called<State & ErrorBody>;
const patch = (token: string, path: string, body: object): Promise<Answer> =>
  platform.call<State & ErrorBody>('PATCH', `/modules/${path}`, { token, body });
const refusal = ({ status, body }: Answer): unknown[] => [status, body.error?.code, ...(body.error?.details ?? [])];
const status = async (token: string, path: string) => (await platform.call('GET', path, { token })).status;
const effective = async (token: string, query = '') =>
  (await platform.call<{ modules: Record<string, boolean> }>('GET', `/modules/effective${query}`, { token })).body
    .modules;
const on = { enabled: true };
const off = { enabled: false };

test.serial('a partner switches a module off for one organization, for itself, and back', async (t) => {
  const { partner, orgAdmin, orgId, partnerId } = await tenant(platform);
  const other = await tenant(platform);
  const switched = await patch(partner.token, `organizations/${orgId}/tags`, { ...off, reason: 'not needed' });
  t.like(switched.body.data, { key: 'tags', level: 'organization', enabled: false, reason: 'disabled_by_org' });
  t.deepEqual([await status(orgAdmin.token, '/tags'), await status(partner.token, '/tags')], [403, 403]);
  t.is(await status(other.orgAdmin.token, '/tags'), 200);
  t.is((await patch(partner.token, `organizations/${orgId}/tags`, { enabled: null })).body.data.enabled, true);
  t.is(await status(orgAdmin.token, '/tags'), 200);
  t.is((await patch(partner.token, 'partner/tags', off)).status, 200);
  t.is(await status(orgAdmin.token, '/tags'), 403);
  t.deepEqual(refusal(await patch(partner.token, `organizations/${orgId}/tags`, on)), [
    409,
    'DISABLED_ABOVE',
    { reason: 'disabled_by_partner' },
  ]);
  t.is((await patch(partner.token, 'partner/tags', on)).status, 200);
  t.is(await status(orgAdmin.token, '/tags'), 200);
  await platform.platform.settle();
  const trail = await platform.sql<{ action: string; owner: string; details: object }>(
    `select action, owner, details from audit_logs where resource_type = 'module' and owner = any($1) order by timestamp, seq`,
    [[`org:${orgId}`, `partner:${partnerId}`]],
  );
  t.deepEqual(trail, [
    {
      action: 'module.disable',
      owner: `org:${orgId}`,
      details: { key: 'tags', level: 'organization', reason: 'not needed' },
    },
    { action: 'module.enable', owner: `org:${orgId}`, details: { key: 'tags', level: 'organization', inherit: true } },
    { action: 'module.disable', owner: `partner:${partnerId}`, details: { key: 'tags', level: 'partner' } },
    { action: 'module.enable', owner: `partner:${partnerId}`, details: { key: 'tags', level: 'partner' } },
  ]);
});

test.serial('saying what is said already changes nothing and leaves no entry', async (t) => {
  const { partner, partnerId } = await tenant(platform);
  t.deepEqual((await patch(partner.token, 'partner/tags', off)).body.data.changed, ['tags']);
  t.deepEqual((await patch(partner.token, 'partner/tags', off)).body.data.changed, []);
  await platform.platform.settle();
  const [row] = await platform.sql<{ n: number }>('select count(*)::int as n from audit_logs where owner = $1', [
    `partner:${partnerId}`,
  ]);
  t.is(row?.n, 1);
});

test.serial('what others require goes with them or not at all, and comes with them', async (t) => {
  const { partner } = await tenant(platform);
  t.deepEqual(refusal(await patch(partner.token, 'partner/filters', off)), [
    409,
    'HAS_DEPENDENTS',
    { keys: ['device-groups', 'tags', 'targets'] },
  ]);
  const gone = await patch(partner.token, 'partner/filters', { ...off, cascade: true });
  t.deepEqual(gone.body.data.changed, ['targets', 'tags', 'device-groups', 'filters']);
  t.like(await effective(partner.token), { filters: false, tags: false, 'device-groups': false, devices: true });
  t.deepEqual(refusal(await patch(partner.token, 'partner/tags', on)), [
    409,
    'DEPENDENCY_DISABLED',
    { missing: ['filters'] },
  ]);
  const back = await patch(partner.token, 'partner/tags', { ...on, enableDependencies: true });
  t.deepEqual(back.body.data.changed, ['filters', 'tags']);
  t.like(await effective(partner.token), { filters: true, tags: true, 'device-groups': false });
});

test.serial('what a level above has off cannot be switched on below, not as a dependency either', async (t) => {
  const { partner, orgId } = await tenant(platform);
  await patch(partner.token, 'partner/filters', { ...off, cascade: true });
  t.deepEqual(refusal(await patch(partner.token, `organizations/${orgId}/tags`, { ...on, enableDependencies: true })), [
    409,
    'DEPENDENCY_DISABLED',
    { missing: ['filters'] },
  ]);
});

test.serial('core modules, unknown ones, and callers who may not', async (t) => {
  const { partner, partnerId, partnerRoleId, orgAdmin, orgId, viewer } = await tenant(platform);
  const stranger = await tenant(platform);
  t.deepEqual(refusal(await patch(partner.token, 'partner/devices', off)), [400, 'CORE_MODULE']);
  t.is((await patch(partner.token, 'partner/nothing', off)).status, 404);
  t.is((await patch(partner.token, 'instance/tags', off)).status, 403);
  t.is((await patch(orgAdmin.token, 'partner/tags', off)).status, 403);
  t.is((await patch(viewer.token, `organizations/${orgId}/tags`, off)).status, 403);
  t.is((await patch(stranger.partner.token, `organizations/${orgId}/tags`, off)).status, 404);
  const some = await partnerUser(platform, {
    partnerId,
    roleId: partnerRoleId,
    orgAccess: 'selected',
    orgIds: [orgId],
  });
  t.is((await patch(some.token, 'partner/tags', off)).status, 403);
  t.is((await patch(some.token, `organizations/${orgId}/tags`, off)).status, 200);
  t.deepEqual(refusal(await patch(admin.token, 'partner/tags', off)).slice(0, 2), [400, 'VALIDATION_ERROR']);
  t.is((await patch(admin.token, 'partner/tags', { ...off, partnerId })).status, 200);
  t.is((await patch(partner.token, 'partner/tags', { ...on, partnerId: stranger.partnerId })).status, 403);
});

test.serial('the operator switches for everybody, says why, and locks a switch against partners', async (t) => {
  const { partner, orgAdmin, partnerId, orgId } = await tenant(platform);
  t.teardown(() => patch(admin.token, 'instance/tags', { ...on, locked: false }));
  t.is((await patch(admin.token, 'instance/tags', { ...off, reason: 'an incident' })).status, 200);
  const away = await platform.call<ErrorBody>('GET', '/tags', { token: orgAdmin.token });
  t.deepEqual([away.status, away.body.error.code], [404, 'MODULE_DISABLED']);
  t.deepEqual(refusal(await patch(partner.token, 'partner/tags', on)), [
    409,
    'DISABLED_ABOVE',
    { reason: 'disabled_by_instance' },
  ]);
  t.is((await patch(admin.token, 'instance/tags', { ...on, locked: true })).body.data.locked, true);
  t.is(await status(orgAdmin.token, '/tags'), 200);
  for (const path of ['partner/tags', `organizations/${orgId}/tags`]) {
    t.deepEqual(refusal(await patch(partner.token, path, off)).slice(0, 2), [403, 'LOCKED_BY_INSTANCE']);
  }
  t.is((await patch(admin.token, 'partner/tags', { ...off, partnerId })).status, 200, 'the operator is not locked out');
  await platform.platform.settle();
  const trail = await platform.sql<{ action: string; details: object }>(
    `select action, details from audit_logs where owner = 'platform' and resource_type = 'module' order by timestamp, seq`,
  );
  t.deepEqual(trail.slice(0, 2), [
    { action: 'module.disable', details: { key: 'tags', level: 'instance', reason: 'an incident' } },
    { action: 'module.enable', details: { key: 'tags', level: 'instance', locked: true } },
  ]);
});

test.serial('a plan decides until the operator gives more, and a partner does not go beyond it', async (t) => {
  const { partner, partnerId, orgId } = await tenant(platform);
  t.false((await effective(partner.token)).sso);
  t.deepEqual(refusal(await patch(partner.token, 'partner/sso', on)), [
    403,
    'NOT_IN_PLAN',
    { plan: 'free', modules: ['sso'] },
  ]);
  t.is((await patch(admin.token, 'partner/sso', { ...on, partnerId })).status, 200);
  t.true((await effective(partner.token)).sso);
  t.is((await patch(partner.token, 'partner/sso', off)).status, 200, 'less is always allowed');
  await platform.sql(`update partners set plan = 'pro' where id = $1`, [partnerId]);
  t.is((await patch(partner.token, 'partner/sso', on)).status, 200);
  t.true((await effective(partner.token, `?orgId=${orgId}`)).sso);
});

test.serial('a trial is given, told of seven days and one day before its end, and ends with an entry', async (t) => {
  const { partner, partnerId } = await tenant(platform);
  await platform.sql(`update partners set billing_email = 'bills@example.com' where id = $1`, [partnerId]);
  t.is((await patch(partner.token, 'partner/sso', { ...on, trialDays: 10 })).status, 403);
  t.is((await patch(admin.token, 'partner/sso', { ...on, partnerId, trialDays: 10 })).status, 200);
  t.true((await effective(partner.token)).sso);
  t.is((await patch(partner.token, 'partner/sso', off)).status, 200);
  t.is((await patch(partner.token, 'partner/sso', on)).status, 200, 'while it lasts it is the partner’s to use');
  const sent: string[] = [];
  const { services } = platform.platform.tasks.work;
  const { send } = services.mail;
  services.mail.send = async ({ to, subject }) => {
    sent.push(`${to} ${subject}`);
    return { id: 'x' };
  };
  t.teardown(() => {
    services.mail.send = send;
  });
  const look = async (left: string) => {
    await platform.sql(`update tenant_modules set expires_at = now() + $2::interval where partner_id = $1`, [
      partnerId,
      left,
    ]);
    await platform.sql(`select flush_effects($1::jsonb)`, [
      JSON.stringify({
        jobs: [{ task: 'features/end-trials', payload: { orgId: null, requestId: 'test', data: {} }, maxAttempts: 1 }],
      }),
    ]);
    await platform.runJobs();
  };
  await look('8 days');
  t.deepEqual(sent, []);
  await look('6 days');
  await look('5 days');
  await look('12 hours');
  await look('11 hours');
  t.deepEqual(sent, [
    'bills@example.com Quartermaster: the trial of Single sign-on ends within 7 days',
    'bills@example.com Quartermaster: the trial of Single sign-on ends within one day',
  ]);
  await look('-1 minute');
  t.false((await effective(partner.token)).sso);
  const events = await platform.sql<{ name: string }>(
    `select name from events where data ->> 'partnerId' = $1 order by occurred_at, name`,
    [partnerId],
  );
  t.deepEqual(
    events.map(({ name }) => name),
    ['features.trial.ending', 'features.trial.ending', 'features.trial.ended'],
  );
  const audits = await platform.audits({ action: 'module.disable' });
  t.deepEqual(audits.at(-1)?.details, { key: 'sso', level: 'partner', reason: 'trial_ended' });
  t.deepEqual(refusal(await patch(partner.token, 'partner/sso', on)).slice(0, 2), [403, 'NOT_IN_PLAN']);
});

test.serial('two who switch at once both get an answer that holds', async (t) => {
  const { partner } = await tenant(platform);
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) => patch(partner.token, 'partner/tags', { enabled: index % 2 === 0 })),
  );
  t.true(answers.every(({ status: seen }) => seen === 200));
  const [row] = await platform.sql<{ enabled: boolean }>(
    `select enabled from tenant_modules where partner_id = (select partner_id from partner_users where user_id = $1)`,
    [partner.id],
  );
  t.is((await effective(partner.token)).tags, row?.enabled);
});

test.serial('an organization that was made a moment ago has what its partner has', async (t) => {
  const { partner, partnerId } = await tenant(platform);
  await patch(partner.token, 'partner/tags', off);
  const { orgId } = await organization(platform, partnerId);
  t.is((await effective(partner.token, `?orgId=${orgId}`)).tags, false);
});
