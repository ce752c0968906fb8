/** The values before and after a change, as entries tell them. */
import test from 'ava';
import { NOBODY, NOWHERE } from '../../context/index.ts';
import { changesOf } from '../changes.ts';
import { auditRow } from '../record.ts';

test('the named fields are told with both values; of settings only what differs', (t) => {
  const before = {
    name: 'One',
    plan: 'free',
    contact: { name: 'Ada', phone: '1' },
    settings: { timezone: 'UTC', language: 'en', contact: { name: 'Ada', email: 'a@example.com' } },
    updatedAt: new Date(0),
  };
  const after = {
    name: 'Two',
    plan: 'pro',
    contact: { name: 'Ada', phone: '2' },
    settings: { timezone: 'Europe/Vienna', language: 'en', contact: { name: 'Ada', email: null }, new: [1] },
    updatedAt: new Date(1),
  };
  t.deepEqual(changesOf(before, after, ['name', 'contact', 'settings']), {
    changedFields: ['name', 'contact', 'settings'],
    before: {
      name: 'One',
      contact: before.contact,
      settings: { timezone: 'UTC', contact: { email: 'a@example.com' }, new: null },
    },
    after: {
      name: 'Two',
      contact: after.contact,
      settings: { timezone: 'Europe/Vienna', contact: { email: null }, new: [1] },
    },
  });
});

test('a member of a field may be named, and a field that kept its value is only named', (t) => {
  const before = { settings: { order: ['a', 'b'], other: 1 }, expiresAt: new Date(0) };
  t.deepEqual(
    changesOf(before, { ...before, settings: { ...before.settings, order: ['b', 'a'] } }, [
      'settings.order',
      'expiresAt',
    ]),
    {
      changedFields: ['settings.order', 'expiresAt'],
      before: { settings: { order: ['a', 'b'] } },
      after: { settings: { order: ['b', 'a'] } },
    },
  );
  t.deepEqual(changesOf(before, { expiresAt: new Date(1000) }, ['expiresAt']).after, {
    expiresAt: '1970-01-01T00:00:01.000Z',
  });
});

test('a value too long for an entry is told by its length', (t) => {
  const { before, after } = changesOf({ script: '' }, { script: 'x'.repeat(5000) }, ['script']);
  t.deepEqual({ before, after }, { before: { script: '' }, after: { script: '[5002 characters]' } });
});

test('secrets among them are struck out by field, in the entry, at any depth', (t) => {
  const details = changesOf(
    { clientSecret: 'old', settings: { smtp: { host: 'a', password: 'old' }, apiKey: null } },
    { clientSecret: 'new', settings: { smtp: { host: 'b', password: 'new' }, apiKey: 'k' } },
    ['clientSecret', 'settings'],
  );
  const row = auditRow(NOBODY, NOWHERE, 'thing.update', { details: { ...details } });
  t.deepEqual(row.details, {
    changedFields: ['clientSecret', 'settings'],
    before: { clientSecret: '[REDACTED]', settings: { smtp: { host: 'a', password: '[REDACTED]' }, apiKey: null } },
    after: {
      clientSecret: '[REDACTED]',
      settings: { smtp: { host: 'b', password: '[REDACTED]' }, apiKey: '[REDACTED]' },
    },
  });
});
