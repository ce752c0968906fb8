/** What a list that can be followed takes and answers beside its pages: changes since a time or a position, and what is gone. */
import Joi from 'joi';
import { type PageQuery, pageOf, pageQuery } from '../paging.ts';
import { isSyncCursor } from './cursor.ts';

export interface TrackedQuery extends PageQuery {
  updatedSince?: string;
}
export const MAX_CHANGES = 500;
export const BEGINNING = 'beginning';

/** Query fields that a list gains by being tracked, whatever its pages look like. */
export const sinceQuery = {
  updatedSince: Joi.alternatives(Joi.string().valid(BEGINNING), Joi.string().isoDate()).description(
    `Asks for what has changed since a time, or for everything ("${BEGINNING}"); each answer has a cursor to go on from, also from the last one`,
  ),
};

/** Query fields of a tracked list: pages as ever, and up to 500 changes a page. */
export function trackedQuery(defaultLimit = 50, maxLimit = 100) {
  const { limit: _, ...rest } = pageQuery(defaultLimit, maxLimit);
  const most = Math.max(maxLimit, MAX_CHANGES);
  const clamp = (value: number) => Math.min(most, Math.max(1, value));
  return {
    ...rest,
    ...sinceQuery,
    limit: Joi.number()
      .unsafe()
      .integer()
      .custom(clamp)
      .default(defaultLimit)
      .description(`Rows a page, 1 to ${maxLimit}; of changes 1 to ${MAX_CHANGES}; values outside are clamped`),
  };
}

export const deletedShape = Joi.array()
  .items(Joi.object({ id: Joi.string().uuid().required(), deletedAt: Joi.date().iso().required() }))
  .description('With updatedSince: rows that are not in this list any more; some the caller may never have had');

/** The answer of a tracked list, in each of its forms. */
export const trackedPageOf = (item: Joi.Schema) => pageOf(item).keys({ deleted: deletedShape });

/** Whether changes are asked for, and not a page. */
export const wantsChanges = ({ updatedSince, cursor }: { updatedSince?: string; cursor?: string }): boolean =>
  updatedSince !== undefined || isSyncCursor(cursor);
