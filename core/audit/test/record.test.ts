/** What an audit entry holds, for every kind of actor. */
import test from 'ava';
import type { Actor } from '../../context/index.ts';
import { NOBODY, NOWHERE } from '../../context/index.ts';
import { auditRow } from '../record.ts';

const ZERO = '00000000-0000-0000-0000-000000000000';
const ID = '5f0e8a1c-8c7f-4f6e-9a43-3d1b2c4d5e6f';
const actor = (kind: Actor['kind'], id: string | null = ID): Actor => ({
  ...NOBODY,
  kind,
  id,
  email: 'ada@example.com',
  name: 'Ada',
  ip: '2001:db8::1',
  userAgent: 'curl/8',
});

test('the kind of the actor is one of four', (t) => {
  const kinds = (['user', 'api_key', 'agent', 'job', 'anonymous'] as const).map(
    (kind) => auditRow(actor(kind), NOWHERE, 'a.b', {}).actorType,
  );
  t.deepEqual(kinds, ['user', 'api_key', 'agent', 'system', 'system']);
});

test('ids that are no uuids become the zero uuid and stay in the details', (t) => {
  const row = auditRow(actor('agent', 'agent-7'), NOWHERE, 'device.x', {
    resourceId: 'recipe/12',
    details: { more: true },
  });
  t.like(row, { actorId: ZERO, resourceId: ZERO });
  t.deepEqual(row.details, { more: true, rawActorId: 'agent-7', rawResourceId: 'recipe/12' });
  const plain = auditRow(actor('user'), NOWHERE, 'device.x', { resourceId: ID.toUpperCase() });
  t.like(plain, { actorId: ID, resourceId: ID.toUpperCase(), details: {} });
  t.deepEqual(auditRow(actor('user', null), NOWHERE, 'a.b', {}).details, {});
});

test('who, from where, with what, and how it ended; the resource is named by the action where nobody says', (t) => {
  const row = auditRow(actor('user'), { ...NOWHERE, orgId: ID }, 'device.create', {
    resourceName: 'pc-1',
    result: 'denied',
    errorMessage: 'no',
  });
  t.like(row, {
    orgId: ID,
    actorEmail: 'ada@example.com',
    actorName: 'Ada',
    action: 'device.create',
    resourceType: 'device',
    resourceName: 'pc-1',
    ipAddress: '2001:db8::1',
    userAgent: 'curl/8',
    result: 'denied',
    errorMessage: 'no',
  });
  t.like(auditRow(actor('user'), NOWHERE, 'a.b', {}), { result: 'success', errorMessage: null, resourceName: null });
  t.true(Math.abs(Date.parse(row.at) - Date.now()) < 60_000);
});
