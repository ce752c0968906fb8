/** The registry of a Windows device: read and change, except for the keys that the system needs to start. */

import type Joi from 'joi';
import type { RegistryPlace } from '#agent-protocol';
import { type Context, errors } from '#core';
import { DeviceDenied, UnsupportedOs } from '../errors.ts';
import {
  CREATE_KEY,
  DELETE_KEY,
  DELETE_VALUE,
  GET_VALUE,
  KEYS,
  removedKey,
  SET_VALUE,
  VALUES,
  type ValuePlace,
  type ValueWrite,
  valuePlace,
} from '../models/registry.ts';
import { callTool } from './calls/calls.ts';
import { type Device, entryOf, type ToolInput } from './calls/requests.ts';

const PROTECTED = new Set(['SYSTEM', 'SOFTWARE', 'SAM', 'SECURITY']);
const MAX_QWORD = 2n ** 64n - 1n;

/** Makes the payload for a Windows device; throws for all others. */
const onWindows =
  <P extends object>(payload: P) =>
  ({ osType }: Device): P & Record<string, unknown> => {
    if (osType !== 'windows') throw UnsupportedOs('Only Windows has a registry');
    return payload as P & Record<string, unknown>;
  };

export async function listKeys(ctx: Context, input: ToolInput & { query: RegistryPlace }) {
  const { result } = await callTool(ctx, input, KEYS, { payload: onWindows(input.query) });
  return { data: result.items };
}

export async function listValues(ctx: Context, input: ToolInput & { query: RegistryPlace }) {
  const { result } = await callTool(ctx, input, VALUES, { payload: onWindows(input.query) });
  return { data: result.items };
}

export async function readValue(ctx: Context, input: ToolInput & { query: ValuePlace }) {
  const { result } = await callTool(ctx, input, GET_VALUE, { payload: onWindows(input.query) });
  return { data: result };
}

export async function setValue(ctx: Context, input: ToolInput & { payload: ValueWrite }) {
  const { data, ...target } = input.payload;
  const payload = { ...target, data: dataOf(input.payload.type, data) };
  const { result, call } = await callTool(ctx, input, SET_VALUE, { payload: onWindows(payload), target });
  const { before } = result;
  // The previous value is known only now, so it is in a second audit entry.
  ctx.audit('device.set_registry_value', entryOf(call.device, { ...target, commandId: call.commandId, before }));
  return { success: true, before };
}

export async function deleteValue(ctx: Context, input: ToolInput) {
  const target = joined(valuePlace, input);
  await callTool(ctx, input, DELETE_VALUE, { payload: onWindows(target), target: { ...target } });
  return { success: true };
}

export async function createKey(ctx: Context, input: ToolInput & { payload: RegistryPlace }) {
  const target = input.payload;
  const { result } = await callTool(ctx, input, CREATE_KEY, { payload: onWindows(target), target: { ...target } });
  return { success: true, created: result.created };
}

export async function deleteKey(ctx: Context, input: ToolInput) {
  const target = joined(removedKey, input);
  const payload = (device: Device) => {
    const allowed = onWindows(target)(device);
    mustBeExpendable(target);
    return allowed;
  };
  await callTool(ctx, input, DELETE_KEY, { payload, target: { ...target } });
  return { success: true };
}

function mustBeExpendable({ hive, path }: RegistryPlace): void {
  const [first = '', ...rest] = path.split('\\');
  const root = first === '';
  const vital = hive === 'HKEY_LOCAL_MACHINE' && rest.length === 0 && PROTECTED.has(first.toUpperCase());
  if (root || vital) throw DeviceDenied('The root of a hive and keys that the system needs cannot be removed');
}

/** The query and the body of a removal combined. Throws VALIDATION_ERROR for missing fields. */
function joined<T>(schema: Joi.ObjectSchema<T>, { query, payload }: ToolInput): T {
  const { value, error } = schema.validate({ ...(query as object), ...(payload as object | null) });
  if (!error) return value;
  const details = error.details.map(({ path, message }) => ({ in: 'query', path: path.join('.'), message }));
  throw errors.ValidationFailed({ message: error.message, details });
}

/** The data in the form for agents. Throws VALIDATION_ERROR for data of another type. */
function dataOf(type: ValueWrite['type'], data: unknown): unknown {
  const refuse = (wanted: string) => {
    const message = `"data" of ${type} must be ${wanted}`;
    return errors.ValidationFailed({ message, details: [{ in: 'payload', path: 'data', message }] });
  };
  const texts = Array.isArray(data) && data.every((one) => typeof one === 'string');
  switch (type) {
    case 'REG_SZ':
    case 'REG_EXPAND_SZ':
      if (typeof data !== 'string') throw refuse('text');
      return data;
    case 'REG_MULTI_SZ':
      if (!texts) throw refuse('a list of texts');
      return data;
    case 'REG_DWORD':
      if (typeof data !== 'number') throw refuse('a number from 0 to 4294967295');
      return data;
    case 'REG_QWORD':
      if (typeof data !== 'string' || !/^\d{1,20}$/.test(data) || BigInt(data) > MAX_QWORD)
        throw refuse('decimal digits as text, at most 18446744073709551615');
      return data;
    case 'REG_BINARY':
      if (Array.isArray(data) && data.every((one) => typeof one === 'number'))
        return Buffer.from(data).toString('base64');
      if (typeof data !== 'string' || Buffer.from(data, 'base64').toString('base64') !== data)
        throw refuse('base64, or a list of bytes');
      return data;
  }
}
