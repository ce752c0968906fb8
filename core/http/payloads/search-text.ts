/** The parameter `search` of lists. */
import Joi from 'joi';

/**
 * A part of a text to look for, trimmed. Empty is no search, as a form with an empty field sends it.
 * @param max characters
 * @param min characters, where shorter parts would match nearly everything
 */
export const searchText = (max: number, min = 1) =>
  Joi.string()
    .trim()
    .empty('')
    .min(min)
    .max(max)
    .pattern(/^[^\0]*$/);
