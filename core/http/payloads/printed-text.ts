/** Texts of one line, such as names. */
import Joi from 'joi';

/** Without control characters. Not \P{Cc}: readers of the API document that compile patterns without the flag `u` reject that. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are what the pattern refuses
const PRINTED = /^[^\u0000-\u001f\u007f-\u009f]*$/;

/**
 * A trimmed text without control characters, line breaks included.
 * @param max characters
 */
export const printedText = (max: number) =>
  Joi.string().trim().max(max).pattern(PRINTED, { name: 'text without control characters' });
