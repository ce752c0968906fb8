/** What an agent says of a command it has run; oversized parts are cut, never refused. */
import Joi from 'joi';
import { named } from '#core';
import { lenient, open, rounded, storable } from './wire-values.ts';

const ERROR_CHARACTERS = 10_000;

/** Keeps the head of an error text and says how much is missing; the streams are shortened where they are stored. */
function cutError(value: string): string {
  const clean = value.replaceAll('\0', '').toWellFormed();
  if (clean.length <= ERROR_CHARACTERS) return clean;
  const kept = clean.slice(0, ERROR_CHARACTERS - 50).toWellFormed();
  return `${kept}…[truncated ${clean.length - kept.length} characters]`;
}

export interface ResultBody {
  status: 'completed' | 'failed' | 'timeout' | 'cancelled';
  exitCode?: number | null;
  stdout?: string | null;
  stderr?: string | null;
  durationMs?: number | null;
  startedAt?: Date | null;
  error?: string | null;
  result?: unknown;
}

export const resultBody = named(
  'AgentCommandResult',
  open<ResultBody>({
    status: Joi.string().valid('completed', 'failed', 'timeout', 'cancelled').required(),
    exitCode: lenient(
      Joi.number()
        .integer()
        .min(-2_147_483_648)
        .max(4_294_967_295)
        // Windows counts its codes without a sign; the column has one.
        .custom((value: number) => value | 0),
    ),
    stdout: lenient(Joi.string().allow('')),
    stderr: lenient(Joi.string().allow('')),
    durationMs: lenient(rounded(2_147_483_647)),
    startedAt: lenient(Joi.date().iso().min('2000-01-01').max('2200-01-01')),
    error: lenient(Joi.string().allow('').custom(cutError)),
    result: Joi.any().custom(storable),
  }),
);
