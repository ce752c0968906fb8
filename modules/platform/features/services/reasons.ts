/** Why a module is on or off somewhere: every check, in order. */
import type { Context } from '#core';
import type { StoredSwitch, SwitchOwner } from '../models/switch.ts';
import { placeOf, whereOf } from './places.ts';
import { mustExist } from './registry.ts';
import { switchesOf } from './stored.ts';

export interface Link {
  check:
    | 'core'
    | 'package'
    | 'environment'
    | 'instance'
    | 'configuration'
    | 'plan'
    | 'partner'
    | 'organization'
    | 'dependency';
  passed: boolean;
  /** What it says, in a sentence. */
  message: string;
  module?: string;
  since?: Date;
  by?: string | null;
  note?: string | null;
  /** For a dependency that is off: the reason. */
  because?: string;
}
type Rows = ReadonlyMap<string, StoredSwitch>;

const said = (row: StoredSwitch) => ({ since: row.updatedAt, by: row.updatedBy, note: row.reason });
const NONE: Rows = new Map();

/** The chain ends with the place asked about; `reason` is the first check that failed. */
export async function explain(ctx: Context, key: string, query: { orgId?: string }) {
  const module = mustExist(ctx, key);
  const place = await placeOf(ctx, query);
  const { modules } = ctx.services;
  const reason = modules.off(key, whereOf(place));
  const chain: Link[] = module.core
    ? [{ check: 'core', passed: true, message: 'The module cannot be switched off' }]
    : [
        ...ofInstallation(ctx, key, await rowsOf(ctx, 'instance', place)),
        ...(await ofPartner(ctx, key, place)),
        ...ofOrganization(key, place, await rowsOf(ctx, 'organization', place)),
        ...module.requires.map((name) => ofDependency(ctx, name, place)),
      ];
  return { data: { key, enabled: reason === null, reason: module.core ? 'core' : reason, chain } };
}

/** Rows of one level above the place asked about, or of the place itself. */
async function rowsOf(ctx: Context, level: SwitchOwner['level'], { partnerId, orgId }: SwitchOwner): Promise<Rows> {
  if (level === 'instance') return switchesOf(ctx, { level, partnerId: null, orgId: null });
  if (level === 'partner') return partnerId ? switchesOf(ctx, { level, partnerId, orgId: null }) : NONE;
  return orgId ? switchesOf(ctx, { level, partnerId, orgId }) : NONE;
}

function ofInstallation(ctx: Context, key: string, rows: Rows): Link[] {
  const { modules } = ctx.services;
  const allowed = modules.allowed(key);
  const missing = modules.missing(key);
  const row = rows.get(key);
  // The author and the reason are only for operators.
  const isSystem = ctx.scope.kind === 'system';
  const fault = modules.fault(key);
  const broken: Link = {
    check: 'package',
    passed: false,
    message: fault && isSystem ? fault : 'The package of the module cannot be used; ask the operator',
  };
  const about = row && isSystem ? said(row) : { ...(row ? { since: row.updatedAt } : {}) };
  return [
    ...(fault ? [broken] : []),
    {
      check: 'environment',
      passed: allowed,
      message: allowed ? 'The configuration of the server allows it' : 'The configuration of the server forbids it',
    },
    {
      check: 'instance',
      passed: row?.enabled !== false,
      message: row?.enabled === false ? 'The operator has switched it off' : 'The operator has not switched it off',
      ...about,
    },
    {
      check: 'configuration',
      passed: missing.length === 0,
      message:
        missing.length === 0 ? 'Nothing is missing' : `The server is not configured for it: ${missing.join(', ')}`,
    },
  ];
}

async function ofPartner(ctx: Context, key: string, place: SwitchOwner): Promise<Link[]> {
  if (!place.partnerId) return [];
  const row = (await rowsOf(ctx, 'partner', place)).get(key);
  if (row) {
    const ended = row.expiresAt !== null && row.expiresAt <= new Date();
    const passed = row.enabled && !ended;
    const message = ended
      ? 'The trial has ended'
      : row.enabled
        ? `The partner has it${row.expiresAt ? ' on trial' : ''}`
        : 'The partner has switched it off';
    return [{ check: 'partner', passed, message, ...said(row) }];
  }
  const { rows } = await ctx.sql<{ plan: string }>('select plan from partners where id = $1', [place.partnerId]);
  const { plan = '' } = rows[0] ?? {};
  const held = ctx.services.modules.inPlan(key, plan);
  const byDefault = mustExist(ctx, key).default !== 'off';
  const asked: Link = {
    check: 'plan',
    passed: held,
    message: held ? 'The module is included in the plan' : 'The module is not included in the plan',
  };
  if (!held || byDefault) return [asked];
  return [asked, { check: 'partner', passed: false, message: 'The module is off until the partner switches it on' }];
}

function ofOrganization(key: string, { orgId }: SwitchOwner, rows: Rows): Link[] {
  const row = rows.get(key);
  if (!orgId) return [];
  const passed = row?.enabled !== false;
  const message = passed ? 'It is not switched off for the organization' : 'It is switched off for the organization';
  return [{ check: 'organization', passed, message, ...(row ? said(row) : {}) }];
}

function ofDependency(ctx: Context, name: string, place: SwitchOwner): Link {
  const off = ctx.services.modules.off(name, whereOf(place));
  return {
    check: 'dependency',
    module: name,
    passed: off === null,
    message: off === null ? `${name}, which it requires, is on` : `${name}, which it requires, is off`,
    ...(off === null ? {} : { because: off }),
  };
}
