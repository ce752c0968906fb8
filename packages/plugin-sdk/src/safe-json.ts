/** JSON from the other side: parsed, bounded, and free of keys that would reach a prototype. */

const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);
const MOST_DEPTH = 40;
const MOST_NODES = 100_000;

/** Throws SyntaxError for what is not JSON, too deep or too large, or has a key that belongs to prototypes. */
export function parseMessage(text: string): unknown {
  const value: unknown = JSON.parse(text);
  mustBeSafe(value);
  return value;
}

/** Without recursion, which the other side could drive to the end of the stack. */
export function mustBeSafe(root: unknown): void {
  const waiting: [unknown, number][] = [[root, 0]];
  let nodes = 0;
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [value, depth] = next;
    if (++nodes > MOST_NODES) throw new SyntaxError('the message has too many parts');
    if (value === null || typeof value !== 'object') continue;
    if (depth >= MOST_DEPTH) throw new SyntaxError('the message is too deep');
    for (const [key, inner] of Object.entries(value)) {
      if (!Array.isArray(value) && FORBIDDEN.has(key)) throw new SyntaxError(`the message has the key ${key}`);
      waiting.push([inner, depth + 1]);
    }
  }
}
