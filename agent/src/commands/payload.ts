/** Reads the parts of a command's payload: what the server has checked is checked again before it touches the machine. */
import { ToolError } from '../tools/contract.ts';

type Payload = Record<string, unknown>;

function invalid(name: string, what: string): ToolError {
  return new ToolError('INVALID', `payload.${name} must be ${what}`);
}

/** A text without NUL; undefined where it is absent or null. */
export function optionalText(payload: Payload, name: string, most: number): string | undefined {
  const value = payload[name] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value.length > most || value.includes('\0'))
    throw invalid(name, `a text of at most ${most} characters`);
  return value;
}

export function text(payload: Payload, name: string, most: number): string {
  const value = optionalText(payload, name, most);
  if (value === undefined) throw invalid(name, 'a text');
  return value;
}

export function whole(payload: Payload, name: string, least: number, most: number): number {
  const value = payload[name];
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most)
    throw invalid(name, `a whole number from ${least} to ${most}`);
  return value;
}

export function optionalWhole(payload: Payload, name: string, least: number, most: number): number | undefined {
  return (payload[name] ?? undefined) === undefined ? undefined : whole(payload, name, least, most);
}

export function oneOf<T extends string>(payload: Payload, name: string, words: readonly T[], byDefault?: T): T {
  const value = payload[name] ?? byDefault;
  const found = words.find((word) => word === value);
  if (found === undefined) throw invalid(name, `one of ${words.join(', ')}`);
  return found;
}

export function optionalOneOf<T extends string>(payload: Payload, name: string, words: readonly T[]): T | undefined {
  return (payload[name] ?? undefined) === undefined ? undefined : oneOf(payload, name, words);
}

/** Absent counts as false. */
export function flag(payload: Payload, name: string): boolean {
  const value = payload[name] ?? false;
  if (typeof value !== 'boolean') throw invalid(name, 'true or false');
  return value;
}

/** A time as ISO 8601; undefined where it is absent. */
export function optionalTime(payload: Payload, name: string): string | undefined {
  const value = optionalText(payload, name, 40);
  if (value === undefined) return undefined;
  const time = Date.parse(value);
  if (Number.isNaN(time)) throw invalid(name, 'a time');
  return new Date(time).toISOString();
}
