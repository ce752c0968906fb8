/** `structuredClone` of plain data, dates, maps, sets, bytes and errors. */
import { provide } from './host-functions.ts';

type View = new (buffer: ArrayBufferLike, offset: number, length: number) => ArrayBufferView;

function structuredClone(value: unknown, known = new Map<object, unknown>()): unknown {
  if (typeof value === 'function' || typeof value === 'symbol')
    throw new DOMException(`${String(value)} could not be cloned`, 'DataCloneError');
  if (typeof value !== 'object' || value === null) return value;
  const seen = known.get(value);
  if (seen) return seen;
  const keep = <T extends object>(copy: T): T => {
    known.set(value, copy);
    return copy;
  };
  const inner = (one: unknown) => structuredClone(one, known);
  if (value instanceof Date) return keep(new Date(value.getTime()));
  if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
  if (value instanceof ArrayBuffer) return keep(value.slice(0));
  if (ArrayBuffer.isView(value)) {
    const length = 'length' in value ? (value.length as number) : value.byteLength;
    return keep(new (value.constructor as View)(inner(value.buffer) as ArrayBuffer, value.byteOffset, length));
  }
  if (value instanceof Map) {
    const copy = keep(new Map<unknown, unknown>());
    for (const [key, held] of value) copy.set(inner(key), inner(held));
    return copy;
  }
  if (value instanceof Set) {
    const copy = keep(new Set<unknown>());
    for (const held of value) copy.add(inner(held));
    return copy;
  }
  if (value instanceof Error)
    return keep(Object.assign(new Error(value.message), { name: value.name, stack: value.stack }));
  const copy = keep(Array.isArray(value) ? new Array<unknown>(value.length) : {});
  for (const [key, held] of Object.entries(value)) {
    const data = { value: inner(held), writable: true, enumerable: true, configurable: true };
    Reflect.defineProperty(copy, key, data);
  }
  return copy;
}

export const provideClone = (): void => provide({ structuredClone: (value: unknown) => structuredClone(value) });
