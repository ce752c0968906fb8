/** A request for approval: row and answer. */
import Joi from 'joi';
import { type Causation, Model, named } from '#core';

export const APPROVAL_STATUSES = ['pending', 'approved', 'rejected', 'cancelled', 'expired'] as const;
export type ApprovalStatus = (typeof APPROVAL_STATUSES)[number];
export type ClosedStatus = Exclude<ApprovalStatus, 'pending'>;

/** The input stays inside: it may hold secrets. */
export class Approval extends Model {
  static override tableName = 'approval_requests';
  declare id: string;
  declare orgId: string;
  declare kind: string;
  declare subjectType: string;
  declare subjectId: string;
  declare siteIds: string[];
  declare deviceIds: string[];
  declare inputHash: string;
  declare title: string;
  declare details: { label: string; value: string }[];
  declare link: string | null;
  declare askedBy: string;
  declare askedKeyId: string | null;
  declare askedName: string;
  declare askedWithMfa: boolean;
  declare reason: string | null;
  declare status: ApprovalStatus;
  declare decidedBy: string | null;
  declare decidedName: string | null;
  declare decidedAt: Date | null;
  declare decisionReason: string | null;
  declare expiresAt: Date;
  declare concludedAt: Date | null;
  declare outcome: 'done' | 'failed' | null;
  declare outcomeCode: string | null;
  declare outcomeMessage: string | null;
  declare result: Record<string, unknown> | null;
  declare version: number;
  declare causation: Causation;
  declare createdAt: Date;
}

export const APPROVAL_COLUMNS = [
  ...[
    'id',
    'orgId',
    'kind',
    'subjectType',
    'subjectId',
    'siteIds',
    'deviceIds',
    'inputHash',
    'title',
    'details',
    'link',
  ],
  ...[
    'askedBy',
    'askedKeyId',
    'askedName',
    'askedWithMfa',
    'reason',
    'status',
    'decidedBy',
    'decidedName',
    'decidedAt',
  ],
  ...['decisionReason', 'expiresAt', 'concludedAt', 'outcome', 'outcomeCode', 'outcomeMessage', 'result', 'version'],
  ...['causation', 'createdAt'],
];
/** The same columns as SQL, named like the fields. */
export const APPROVAL_FIELDS = APPROVAL_COLUMNS.map(
  (name) => `r.${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)} as "${name}"`,
).join(', ');

const uuid = Joi.string().uuid();
const text = Joi.string().allow(null).required();
const time = Joi.date().iso();
const shape = {
  id: uuid.required(),
  orgId: uuid.required(),
  kind: Joi.string().required().description('What has it approved, such as device-commands.bulk'),
  kindTitle: text.description('What people call it; null where the module is not installed any more'),
  subject: Joi.object({ type: Joi.string().required(), id: uuid.required() }).required(),
  siteIds: Joi.array().items(uuid).required(),
  deviceCount: Joi.number()
    .integer()
    .required()
    .description('With neither sites nor devices it is for the whole organization'),
  title: Joi.string().required(),
  details: Joi.array()
    .items(Joi.object({ label: Joi.string().required(), value: Joi.string().allow('').required() }))
    .required()
    .description('What was asked for, as it was then'),
  link: text.description('A path within the console'),
  askedBy: Joi.object({
    userId: uuid.required().description('With an API key, who made it'),
    apiKeyId: uuid.allow(null).required(),
    name: Joi.string().required(),
  }).required(),
  reason: text,
  status: Joi.string()
    .valid(...APPROVAL_STATUSES)
    .required(),
  mayDecide: Joi.boolean().required().description('Whether the caller may decide about it now'),
  decidedBy: Joi.object({ userId: uuid.required(), name: Joi.string().required() }).allow(null).required(),
  decidedAt: time.allow(null).required().description('When it ended, in whatever way'),
  decisionReason: text,
  expiresAt: time.required(),
  outcome: Joi.string()
    .valid('done', 'failed')
    .allow(null)
    .required()
    .description('Of what was approved: null until it was carried out'),
  outcomeCode: text.description(
    'Why it failed: OWNER_ACCESS_LOST, STALE, TOO_LATE, MODULE_DISABLED, KIND_UNAVAILABLE, INPUT_LOST, or the code of an error',
  ),
  outcomeMessage: text,
  result: Joi.object().unknown().allow(null).required().description('What carrying it out gave, by kind'),
  version: Joi.number().integer().required(),
  createdAt: time.required(),
};
export const approvalShape = named('Approval', Joi.object(shape));
export const approvalWithDevices = named(
  'ApprovalWithDevices',
  Joi.object({ ...shape, deviceIds: Joi.array().items(uuid).required() }),
);

/** @param kindTitle of its kind @param mayDecide whether the caller may decide about it */
export function showApproval(row: Approval, kindTitle: string | null, mayDecide: boolean) {
  const { id, orgId, kind, siteIds, title, details, link, reason, status, decidedAt, decisionReason, expiresAt } = row;
  const { outcome, outcomeCode, outcomeMessage, result, version, createdAt } = row;
  return {
    ...{ id, orgId, kind, kindTitle, siteIds, title, details, link, reason, status, mayDecide, decidedAt },
    ...{ decisionReason, expiresAt, outcome, outcomeCode, outcomeMessage, result, version, createdAt },
    subject: { type: row.subjectType, id: row.subjectId },
    deviceCount: row.deviceIds.length,
    askedBy: { userId: row.askedBy, apiKeyId: row.askedKeyId, name: row.askedName },
    decidedBy: row.decidedBy ? { userId: row.decidedBy, name: row.decidedName ?? '' } : null,
  };
}
