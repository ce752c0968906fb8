/** What a verification of a chain asks and answers. */
import Joi from 'joi';
import { PROBLEMS, type Verdict } from '#core';

export interface ChainQuery {
  orgId?: string;
}
export interface VerifyQuery extends ChainQuery {
  from?: Date;
  to?: Date;
}
export const orgId = Joi.string()
  .uuid()
  .description("Whose chain; without it the caller's organization, a partner's own rows, or the platform's");

export const verifyQuery = Joi.object<VerifyQuery>({
  orgId,
  from: Joi.date().iso().description('Earliest time, inclusive; a neighbour before it is looked at too'),
  to: Joi.date().iso().description('Latest time, inclusive; a neighbour after it is looked at too'),
});

export const verdictShape = Joi.object<Verdict>({
  owner: Joi.string().required(),
  checked: Joi.number().integer().required().description('Rows recomputed'),
  checkpoints: Joi.number().integer().required().description('Signed checkpoints that the rows were held against'),
  ok: Joi.boolean().required(),
  firstBad: Joi.object({
    id: Joi.string().allow('').required().description('Empty where there is no row to name'),
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
});
