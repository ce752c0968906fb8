/** A login as its user sees it. */
import Joi from 'joi';
import { Model, named } from '#core';

export class Session extends Model {
  static override tableName = 'sessions';
  static override orgColumn = null;
  declare id: string;
  declare userId: string;
  declare scope: string;
  declare mfa: boolean;
  declare ipAddress: string | null;
  declare userAgent: string | null;
  declare createdAt: Date;
  declare lastUsedAt: Date;
  declare expiresAt: Date;
}

export function showSession(row: Session, currentId: string | null) {
  const { id, scope, mfa, ipAddress, userAgent, createdAt, lastUsedAt, expiresAt } = row;
  return { id, scope, mfa, ipAddress, userAgent, createdAt, lastUsedAt, expiresAt, current: id === currentId };
}

export const sessionShape = named(
  'Session',
  Joi.object({
    id: Joi.string().uuid().required(),
    scope: Joi.string().valid('system', 'partner', 'organization').required(),
    mfa: Joi.boolean().required(),
    ipAddress: Joi.string().allow(null).required(),
    userAgent: Joi.string().allow(null, '').required(),
    createdAt: Joi.date().iso().required(),
    lastUsedAt: Joi.date().iso().required(),
    expiresAt: Joi.date().iso().required(),
    current: Joi.boolean().required().description('Whether this is the session of the request'),
  }),
);
