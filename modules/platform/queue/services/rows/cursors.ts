/** Cursors of this module's lists; a value of another kind than the list returned is refused. */
import { decodeCursor, errors } from '#core';

type Kind = 'name' | 'node' | 'print' | 'time' | 'number';

const fits: Record<Kind, (value: unknown) => boolean> = {
  // The name of a task, a schedule or a domain queue.
  name: (value) => typeof value === 'string' && /^[a-z][a-z0-9-]*(\/[a-z0-9-]+)?$/.test(value) && value.length < 200,
  node: (value) => typeof value === 'string' && /^[\w.-]{1,200}:\d{1,10}:[0-9a-f]{8}$/.test(value),
  print: (value) => typeof value === 'string' && /^[0-9a-f]{0,64}$/.test(value),
  // As PostgreSQL writes it; an invalid month is refused here instead of in a statement.
  time: (value) =>
    typeof value === 'string' &&
    /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(\.\d{1,6})?[+-]\d{2}(:\d{2})?$/.test(value) &&
    !Number.isNaN(Date.parse(value.replace(' ', 'T').replace(/([+-]\d{2})$/, '$1:00'))),
  number: (value) => Number.isSafeInteger(value) && Math.abs(value as number) < 2 ** 53,
};

/** Null for the first page. Throws INVALID_CURSOR. */
export function positionIn(order: string, cursor: string, kinds: readonly Kind[]): (string | number)[] | null {
  if (cursor === '') return null;
  const values = decodeCursor(order, cursor, kinds.length);
  if (!kinds.every((kind, index) => fits[kind](values[index]))) throw errors.InvalidCursor();
  return values as (string | number)[];
}
