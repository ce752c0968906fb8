/** What an agent says of a command it has run; oversized parts are cut, never refused (domain/agents, section 4). */
import Joi from 'joi';
import { lenient, open, storable } from './wire-values.ts';

/** Characters of a stream that are handed on; the device's own limits for what is stored are lower. */
const STREAM = 5_000_000;
const ERROR = 10_000;

/** Keeps the head of a text and says how much is missing. */
const cut = (most: number) => (value: string) => {
  const clean = value.replaceAll('\0', '').toWellFormed();
  if (clean.length <= most) return clean;
  const marker = `…[truncated ${clean.length - most + 40} characters]`;
  return clean.slice(0, most - 40).toWellFormed() + marker;
};
const stream = (most: number) => lenient(Joi.string().allow('').custom(cut(most)));

export interface ResultBody {
  status: 'completed' | 'failed' | 'timeout';
  exitCode?: number | null;
  stdout?: string | null;
  stderr?: string | null;
  durationMs?: number | null;
  startedAt?: Date | null;
  error?: string | null;
  result?: unknown;
}

export const resultBody = open<ResultBody>({
  status: Joi.string().valid('completed', 'failed', 'timeout').required(),
  exitCode: lenient(
    Joi.number()
      .integer()
      .min(-2_147_483_648)
      .max(4_294_967_295)
      // Windows counts its codes without a sign; the column has one.
      .custom((value: number) => value | 0),
  ),
  stdout: stream(STREAM),
  stderr: stream(STREAM),
  durationMs: lenient(Joi.number().min(0).max(2_147_483_647).custom(Math.round)),
  startedAt: lenient(Joi.date().iso().min('2000-01-01').max('2200-01-01')),
  error: stream(ERROR),
  result: Joi.any().custom(storable),
});
