/** Switches: rows, request and response schemas. */
import Joi from 'joi';
import { type ModuleLevel, named } from '#core';

/** The level and owner of a switch. */
export interface SwitchOwner {
  level: ModuleLevel;
  partnerId: string | null;
  orgId: string | null;
}
/** The content of a row; only that of the installation has a lock, only that of a tenant can be a trial. */
export interface StoredSwitch {
  enabled: boolean;
  locked: boolean;
  source: 'manual' | 'plan' | 'trial';
  expiresAt: Date | null;
  reason: string | null;
  updatedBy: string | null;
  updatedAt: Date;
}
export interface Turn {
  /** Null inherits the state of the level above. */
  enabled: boolean | null;
  locked?: boolean;
  reason?: string | null;
  cascade?: boolean;
  enableDependencies?: boolean;
  trialDays?: number;
}

const turning = {
  reason: Joi.string().trim().max(500).allow(null, '').description('Shown to users who ask why'),
  cascade: Joi.boolean().default(false).description('Also switches off modules that require this one'),
  enableDependencies: Joi.boolean().default(false).description('Also switches on modules that this one requires'),
};
export const instanceTurn = named(
  'ModuleTurnByOperator',
  Joi.object<Turn>({
    enabled: Joi.boolean().required(),
    locked: Joi.boolean().description('If true, partners cannot change it'),
    ...turning,
  }),
);
export const partnerTurn = named(
  'ModuleTurnByPartner',
  Joi.object<Turn & { partnerId?: string }>({
    enabled: Joi.boolean().required(),
    partnerId: Joi.string().uuid().description('The partner; required for system callers'),
    trialDays: Joi.number()
      .integer()
      .min(1)
      .max(365)
      .description('System callers only: the trial ends after this many days'),
    ...turning,
  }),
);
export const organizationTurn = named(
  'ModuleTurnByOrganization',
  Joi.object<Turn>({
    enabled: Joi.boolean().allow(null).required().description("Null inherits the partner's state"),
    ...turning,
  }),
);

const word = Joi.string();
const reason = word.allow(null).required().description('Why it is off; `core` for modules that cannot be switched off');
const level = Joi.string().valid('instance', 'partner', 'organization');
export const moduleShape = named(
  'Module',
  Joi.object({
    key: word.required(),
    title: word.required(),
    description: word.required(),
    group: word.required(),
    core: Joi.boolean().required(),
    enabled: Joi.boolean().required(),
    reason,
    fault: word.description('The fault of the package that it comes from; only for system callers'),
    levels: Joi.array().items(level).required(),
    dependsOn: Joi.array().items(word).required(),
    dependents: Joi.array().items(word).required(),
    configurable: Joi.boolean().required().description('Whether the caller may switch it here'),
  }),
);
const stored = {
  key: word.required(),
  enabled: Joi.boolean().required(),
  reason,
  note: word.allow(null).required(),
  locked: Joi.boolean().required(),
  updatedBy: word.allow(null).required(),
  updatedAt: Joi.date().iso().allow(null).required(),
};
export const stateShape = named(
  'ModuleState',
  Joi.object({
    ...stored,
    level: level.required(),
    changed: Joi.array().items(word).required().description('This module and the ones that were switched with it'),
  }),
);
export const partnerRow = named(
  'ModuleOfPartner',
  Joi.object({
    ...stored,
    source: word.allow(null).required().description('Null when the partner has not set it'),
    expiresAt: Joi.date().iso().allow(null).required().description('The end of a trial'),
    organizationsOff: Joi.number().integer().required(),
  }),
);
export const instanceRow = named(
  'ModuleOfInstance',
  Joi.object({
    ...stored,
    partnersOn: Joi.number().integer().required(),
    objects: Joi.object().pattern(word, Joi.number().integer()).required(),
  }),
);
