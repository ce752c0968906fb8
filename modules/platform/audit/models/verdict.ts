/** Query and response of the verification of a chain. */
import Joi from 'joi';
import { named } from '#core';
import { PROBLEMS, type Verdict } from '#core/audit';

export interface ChainQuery {
  orgId?: string;
}
export interface VerifyQuery extends ChainQuery {
  from?: Date;
  to?: Date;
}
export const orgId = Joi.string()
  .uuid()
  .description(
    "The owner of the chain; defaults to the caller's organization, the partner's own rows, or the platform's",
  );

export const verifyQuery = Joi.object<VerifyQuery>({
  orgId,
  from: Joi.date().iso().description('Earliest time, inclusive; the row before it is checked, too'),
  to: Joi.date().iso().description('Latest time, inclusive; the row after it is checked, too'),
});

export const verdictShape = named(
  'AuditVerdict',
  Joi.object<Verdict>({
    owner: Joi.string().required(),
    checked: Joi.number().integer().required().description('Rows recomputed'),
    checkpoints: Joi.number().integer().required().description('Signed checkpoints that the rows were compared with'),
    ok: Joi.boolean().required(),
    firstBad: Joi.object({
      id: Joi.string().allow('').required().description('Empty when there is no row to name'),
      seq: Joi.number().integer().required(),
      problem: Joi.string()
        .valid(...PROBLEMS)
        .required(),
    })
      .allow(null)
      .required(),
    brokenCheckpoint: Joi.object({ id: Joi.string().uuid().required(), size: Joi.number().integer().required() })
      .allow(null)
      .required(),
  }),
);
