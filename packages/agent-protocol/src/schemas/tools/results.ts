/** What schemas of tool results have in common. */
import Joi from 'joi';
import { MAX_PAGE_ITEMS, type Paged } from '../../tools/results.ts';

/** A text that may be unknown. */
export const optionalText = () => Joi.string().allow('', null).required();

/** One page of items. */
export const paged = <T>(item: Joi.ObjectSchema<T>) =>
  Joi.object<Paged<T>>({
    items: Joi.array().items(item).max(MAX_PAGE_ITEMS).required(),
    total: Joi.number().integer().min(0).allow(null).required(),
  });

/** All items at once. */
export const listed = <T>(item: Joi.ObjectSchema<T>, max?: number) => {
  const items = Joi.array().items(item).required();
  return Joi.object<{ items: T[] }>({ items: max === undefined ? items : items.max(max) });
};
