/** Commands as agents receive them, and the results that they send; parts of a result that are too long are cut. */
import Joi from 'joi';
import { type Command, RESULT_STATUSES, type ReceivedResult } from '../commands.ts';
import { cleaned, instant, lenient, open, rounded, storable } from './values.ts';

const MAX_ERROR_CHARACTERS = 10_000;

export const commandIdShape = Joi.string().uuid().required();

export const commandShape = Joi.object<Command<Date>>({
  id: commandIdShape,
  type: Joi.string().required(),
  payload: Joi.object().unknown().required(),
  deliverBy: Joi.date().iso().allow(null).required(),
  executionTimeoutSeconds: Joi.number().integer().required(),
});

/** Keeps the beginning of an error text and says how much is missing; the streams are shortened where they are stored. */
function cutError(value: string): string {
  const clean = cleaned(value);
  if (clean.length <= MAX_ERROR_CHARACTERS) return clean;
  const kept = clean.slice(0, MAX_ERROR_CHARACTERS - 50).toWellFormed();
  return `${kept}…[truncated ${clean.length - kept.length} characters]`;
}

export const resultBody = open<ReceivedResult>({
  status: Joi.string()
    .valid(...RESULT_STATUSES)
    .required(),
  exitCode: lenient(
    Joi.number()
      .integer()
      .min(-2_147_483_648)
      .max(4_294_967_295)
      // Exit codes of Windows are unsigned; the column is signed.
      .custom((value: number) => value | 0),
  ),
  stdout: lenient(Joi.string().allow('')),
  stderr: lenient(Joi.string().allow('')),
  durationMs: lenient(rounded(2_147_483_647)),
  startedAt: lenient(instant()),
  error: lenient(Joi.string().allow('').custom(cutError)),
  result: Joi.any().custom(storable),
});
