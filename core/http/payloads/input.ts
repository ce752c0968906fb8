/** What holds for every input whatever its schema says: no absurd shapes, and nothing that the database cannot store. */
import type { Input } from '../../contract/index.ts';
import { ValidationFailed } from '../../errors.ts';

/** Deeper than any settings or filter; recursion over a body stays far from the end of the stack. */
const MAX_LEVELS = 50;
/** Entries of one array or object; a schema may judge each of them, and each may become a fault with a message. */
const MAX_ENTRIES = 20_000;

interface Node {
  value: object;
  key: string;
  above: Node | null;
  level: number;
}
type Fault = string | null;

/** The path from the top, shortened to what a person would read: names may be long, and levels many. */
const pathOf = (node: Node | null, key: string): string => {
  const keys = [key];
  for (let at = node; at?.above; at = at.above) keys.unshift(at.key);
  const shown = keys.filter((one) => one !== '').slice(0, 10);
  return shown.map((one) => one.slice(0, 100)).join('.');
};

/** Looks at every container and every value in it, without recursion; throws VALIDATION_ERROR for the first fault. */
function inspect(
  source: string,
  root: unknown,
  container: (value: object, entries: number, level: number) => Fault,
  leaf: (value: unknown, key: string) => Fault,
): void {
  const refuse = (node: Node | null, key: string, fault: string): never => {
    const path = pathOf(node, key);
    const message = `"${path || source}" ${fault}`;
    throw ValidationFailed({ message, details: [{ in: source, path, message }] });
  };
  if (root === null || typeof root !== 'object') return;
  const waiting: Node[] = [{ value: root, key: '', above: null, level: 1 }];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    const list = Object.entries(node.value);
    const fault = container(node.value, list.length, node.level);
    if (fault) refuse(node.above, node.key, fault);
    for (const [key, value] of list) {
      const bad = leaf(value, key);
      if (bad) refuse(node, key, bad);
      if (value !== null && typeof value === 'object' && !(value instanceof Date)) {
        waiting.push({ value, key, above: node, level: node.level + 1 });
      }
    }
  }
}

/** Before validation: throws VALIDATION_ERROR, naming the place, for nesting and lists that would only cost time. */
export function mustBeShapely(source: string, body: unknown): void {
  inspect(
    source,
    body,
    (_value, entries, level) => {
      if (level > MAX_LEVELS) return `is nested deeper than ${MAX_LEVELS} levels`;
      return entries > MAX_ENTRIES ? `has more than ${MAX_ENTRIES} entries` : null;
    },
    () => null,
  );
}

/** PostgreSQL's text and jsonb take neither; JavaScript's strings may hold both. */
const isStorable = (text: string) => text.isWellFormed() && !text.includes('\0');

/**
 * After validation: throws VALIDATION_ERROR, naming the place, for texts with NUL or half a surrogate pair and for dates
 * outside the years 1 to 9999, which the database or the answer could not hold.
 */
export function mustBeStorable({ params, query, payload }: Pick<Input, 'params' | 'query' | 'payload'>): void {
  for (const [source, root] of Object.entries({ params, query, payload })) {
    inspect(
      source,
      root,
      () => null,
      (value, key) => {
        if (!isStorable(key)) return 'has a name with characters that cannot be stored';
        if (typeof value === 'string' && !isStorable(value)) return 'holds characters that cannot be stored';
        if (!(value instanceof Date)) return null;
        const year = value.getUTCFullYear();
        return year >= 1 && year <= 9999 ? null : 'must lie between the years 1 and 9999';
      },
    );
  }
}
