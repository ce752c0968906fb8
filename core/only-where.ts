/** Fields of a request that fit only some values of the fields beside them. */
import type Joi from 'joi';

/**
 * The schema for where `fits` says so of the object around it; elsewhere the field is not allowed. Unlike `Joi.when` it leaves the bounds of
 * the field visible to the API document.
 */
export const onlyWhere = <S extends Joi.Schema>(schema: S, fits: (around: Record<string, unknown>) => boolean): S =>
  schema.custom((value: unknown, helpers) => {
    const [around] = helpers.state.ancestors as Record<string, unknown>[];
    return around && fits(around) ? value : helpers.error('any.unknown');
  }) as S;
