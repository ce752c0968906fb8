/** How the levels add up to where a module is on. */
import test from 'ava';
import type { Module } from '../../contract/index.ts';
import { Effective, type Rules, type Switches } from '../effective.ts';
import { dependenciesOf, dependentsOf } from '../graph.ts';

const module = (name: string, more: Partial<Module> = {}): Module => ({
  name,
  title: name,
  summary: name,
  requires: [],
  permissions: [],
  audits: [],
  ...more,
});
const MODULES = [
  module('base', { core: true }),
  module('a', { requires: ['base'] }),
  module('b', { requires: ['a'] }),
  module('c', { requires: ['b'], default: 'off' }),
];
const RULES: Rules = {
  allowed: () => true,
  missing: () => [],
  faulty: () => false,
  inPlan: () => true,
};
const NOTHING: Switches = {
  instance: [],
  tenants: [],
  partners: [{ id: 'p', plan: 'free' }],
  partnerOf: new Map([
    ['o', 'p'],
    ['o2', 'p'],
  ]),
};
const at = (switches: Partial<Switches>, rules: Partial<Rules> = {}) =>
  Effective.from(MODULES, { ...RULES, ...rules }, { ...NOTHING, ...switches }, new Date());
const said = (key: string, orgId: string | null, enabled: boolean) => ({
  key,
  partnerId: 'p',
  orgId,
  enabled,
  expiresAt: null,
});

test('nothing said: what is on by default is on, and costs one look', (t) => {
  const state = at({});
  t.deepEqual([...state.switched], ['c']);
  t.is(state.off('a', { partnerId: 'p' }), null);
  t.is(state.off('c', { orgId: 'o' }), 'default');
});

test('a lower level only takes away: the environment, then the operator, then the partner, then the organization', (t) => {
  const orgOff = at({ tenants: [said('a', 'o', false)] });
  t.is(orgOff.off('a', { orgId: 'o' }), 'disabled_by_org');
  t.is(orgOff.off('a', { orgId: 'o2' }), null);
  t.is(orgOff.off('a', { partnerId: 'p' }), null);
  const partnerOff = at({ tenants: [said('a', null, false), said('a', 'o', true)] });
  t.is(partnerOff.off('a', { orgId: 'o' }), 'disabled_by_partner');
  const instanceOff = at({ instance: [{ key: 'a', enabled: false, locked: false }], tenants: [said('a', null, true)] });
  t.is(instanceOff.off('a', { orgId: 'o' }), 'disabled_by_instance');
  const environment = at(
    { instance: [{ key: 'a', enabled: true, locked: false }] },
    { allowed: ({ name }) => name !== 'a' },
  );
  t.is(environment.off('a', {}), 'disabled_by_env');
});

test('what is required is missed by everything above it, wherever it is off', (t) => {
  const state = at({ tenants: [said('a', 'o', false), said('c', null, true)] });
  t.is(state.off('b', { orgId: 'o' }), 'dependency:a');
  t.is(state.off('c', { orgId: 'o' }), 'dependency:b');
  t.is(state.off('c', { orgId: 'o2' }), null);
  t.is(at({ instance: [{ key: 'a', enabled: false, locked: false }] }).off('b', {}), 'dependency:a');
});

test('a plan decides for partners that have not said', (t) => {
  const inPlan: Rules['inPlan'] = ({ name }, plan) => !(plan === 'free' && name === 'a');
  t.is(at({}, { inPlan }).off('a', { orgId: 'o' }), 'plan');
  t.is(at({ tenants: [said('a', null, true)] }, { inPlan }).off('a', { orgId: 'o' }), null);
  t.is(at({ partners: [{ id: 'p', plan: 'pro' }] }, { inPlan }).off('a', { orgId: 'o' }), null);
  t.is(at({}, { inPlan }).off('a', { partnerId: 'new' }), 'plan', 'nothing is known of a new partner yet');
});

test('one that misses a variable is off everywhere, with its name', (t) => {
  const state = at({}, { missing: ({ name }) => (name === 'a' ? ['A_KEY'] : []) });
  t.is(state.off('a', { orgId: 'o' }), 'not_configured:A_KEY');
  t.is(state.off('b', {}), 'dependency:a');
});

test('before anything could be read, what can be switched off is off and the rest is on', (t) => {
  const state = Effective.unknown(MODULES);
  t.is(state.off('base', { orgId: 'o' }), null);
  t.is(state.off('a', { orgId: 'o' }), 'unknown');
});

test('what cannot be switched off stays on whatever the tables say', (t) => {
  t.is(
    at({ instance: [{ key: 'base', enabled: false, locked: false }], tenants: [said('base', 'o', false)] }).off(
      'base',
      {
        orgId: 'o',
      },
    ),
    null,
  );
});

test('work over all organizations learns which to leave out', (t) => {
  t.deepEqual(at({ tenants: [said('a', 'o', false)] }).orgsWithout('b'), ['o']);
  t.deepEqual(at({ tenants: [said('a', null, false)] }).orgsWithout('a'), ['o', 'o2']);
  t.deepEqual(at({}).orgsWithout('a'), []);
  t.deepEqual(at({ tenants: [said('a', null, false)] }).partnersWithout('a'), ['p']);
  t.deepEqual(at({ tenants: [said('a', 'o', false)] }).partnersWithout('a'), []);
});

test('what stands on a module and what it stands on are found through others', (t) => {
  t.deepEqual(dependentsOf(MODULES, 'a'), ['b', 'c']);
  t.deepEqual(dependenciesOf(MODULES, 'c'), ['base', 'a', 'b']);
});
