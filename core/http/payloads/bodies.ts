/** The body of a request: how large it may be, and its validation, for JSON and for bodies that are handed on unread. */
import { Readable } from 'node:stream';
import type { RequestApplicationState, RouteOptionsPayload } from '@hapi/hapi';
import Joi from 'joi';
import type { AnyRoute } from '../../contract/index.ts';
import { PayloadTooLarge } from '../../errors.ts';
import type { UnitOfWorkBackend } from '../../work/index.ts';
import { BodyStream } from '../streams/body-stream.ts';
import { mustBeShapely } from './input.ts';

interface Serving {
  work: Pick<UnitOfWorkBackend, 'services'>;
}
const JSON_TYPE = 'application/json';
const JSON_BYTES = 1024 * 1024;

export function bodyOptions(
  { work }: Serving,
  { payload, stream, maxBytes = JSON_BYTES }: AnyRoute,
): RouteOptionsPayload {
  const { config } = work.services;
  if (!stream) return { maxBytes, allow: JSON_TYPE, defaultContentType: JSON_TYPE };
  return {
    output: 'stream',
    parse: true,
    maxBytes: Math.max(maxBytes, stream.maxBytes(config)),
    allow: payload ? [JSON_TYPE, stream.type] : stream.type,
    defaultContentType: payload ? JSON_TYPE : stream.type,
  };
}

/** What hapi hands to a validation, as far as it is used here. */
interface Validated {
  headers?: Record<string, string | undefined>;
  app?: { request?: RequestApplicationState };
}
type Validate = (body: unknown, options: { context?: object }) => Promise<unknown>;

export function payloadOf(services: Serving, route: AnyRoute): Validate {
  const schema = route.payload ?? Joi.object({}).allow(null);
  const { plain, stream } = route;
  return async (given, options) => {
    if (plain?.(given)) return given;
    let body = given;
    try {
      if (stream && given instanceof Readable) {
        const { headers = {}, app } = (options.context ?? {}) as Validated;
        const type = headers['content-type'] ?? JSON_TYPE;
        if (!route.payload || type.startsWith(stream.type))
          return new BodyStream(given, stream.maxBytes(services.work.services.config), app?.request?.body);
        body = await jsonOf(given, route.maxBytes ?? JSON_BYTES, Number(headers['content-length']));
      }
      mustBeShapely('payload', body);
    } catch (cause) {
      // hapi reads the details of what is thrown here as Joi's; ours have another form and go through unread.
      throw new Error('the body has no shape to validate', { cause });
    }
    return schema.validateAsync(body, options);
  };
}

async function jsonOf(source: Readable, maxBytes: number, announced: number): Promise<unknown> {
  const body = new BodyStream(source, maxBytes);
  try {
    if (announced > maxBytes) throw PayloadTooLarge();
    return await body.json();
  } catch (error) {
    await body.drain();
    throw error;
  }
}
