/** What is known of the modules while the database is away. */
import test from 'ava';
import type pg from 'pg';
import { readConfig } from '#config';
import type { Module } from '../../contract/index.ts';
import { createLog } from '../../log.ts';
import { narrowed } from '../gate.ts';
import { ModuleStates } from '../states.ts';

const manifest = (name: string, core: boolean): Module => ({
  ...{ name, core, title: name, summary: name },
  ...{ requires: [], permissions: [], audits: [] },
});
const modules = [manifest('base', true), manifest('lamp', false)];
const config = readConfig({ NODE_ENV: 'test', DATA_DIR: '/nowhere' });
const log = createLog('silent');

/** A database that can be taken away, and says that the lamp is off for one organization. */
function database() {
  const state = { away: false };
  const answers: [RegExp, object[]][] = [
    [/from tenant_modules/, [{ key: 'lamp', partnerId: 'p', orgId: 'o', enabled: false, expiresAt: null }]],
    [/from partners/, [{ id: 'p', plan: 'free' }]],
    [/as mark from organizations/, [{ mark: '1' }]],
    [/from organizations/, [{ id: 'o', partnerId: 'p' }]],
  ];
  const query = async (text: string) => {
    if (state.away) throw new Error('the database is away');
    return { rows: answers.find(([statement]) => statement.test(text))?.[1] ?? [] };
  };
  return { state, pool: { query } as unknown as pg.Pool };
}

test('before the database could be asked what can be switched off is off, and the rest works', async (t) => {
  const { state, pool } = database();
  state.away = true;
  const states = new ModuleStates(modules, config, pool, log);
  await states.start();
  t.teardown(() => states.close());
  t.is(states.off('lamp', { orgId: 'o2' }), 'unknown');
  t.is(states.off('base', { orgId: 'o2' }), null);
  state.away = false;
  await states.refresh();
  t.is(states.off('lamp', { orgId: 'o2' }), null);
});

test('once it was asked, what was last known counts while it is away', async (t) => {
  const { state, pool } = database();
  const states = new ModuleStates(modules, config, pool, log);
  await states.start();
  t.teardown(() => states.close());
  state.away = true;
  await states.refresh();
  t.is(states.off('lamp', { orgId: 'o' }), 'disabled_by_org');
  t.is(states.off('lamp', { partnerId: 'p' }), null);
});

test('who listens hears of a change once, and not of readings that brought none', async (t) => {
  const { pool } = database();
  const states = new ModuleStates(modules, config, pool, log);
  let heard = 0;
  states.onChange(() => {
    heard += 1;
  });
  await states.start();
  t.teardown(() => states.close());
  for (let again = 0; again < 3; again++) await states.refresh();
  t.is(heard, 1);
});

test('a scope that spans organizations is divided anew after each change', async (t) => {
  const { pool } = database();
  const states = new ModuleStates(modules, config, pool, log);
  const scope = {
    ...{ kind: 'partner' as const, partnerId: 'p', ownerPartnerId: 'p', orgId: null, orgIds: ['o', 'o2'] },
    ...{ allOrgs: true, siteIds: null, groupIds: null, deviceId: null },
  };
  t.throws(() => narrowed(states, 'lamp', scope), { code: 'MODULE_DISABLED' });
  await states.start();
  t.teardown(() => states.close());
  const { orgIds, excluded } = narrowed(states, 'lamp', scope);
  t.deepEqual([orgIds, excluded], [['o2'], { module: 'lamp', orgIds: ['o'] }]);
  t.is(narrowed(states, 'base', scope), scope);
});
