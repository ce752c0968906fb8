/** JSON from the other side: bounded before it is parsed, and freed of keys that would reach a prototype. */

const MOST_DEPTH = 40;
/** Values in one message. */
const MOST_NODES = 100_000;

/** Throws SyntaxError for what is too deep or has too many values; costs one pass over the text, and no memory. */
function mustBeBounded(text: string): void {
  let [depth, nodes, inText] = [0, 1, false];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (inText) {
      if (code === 0x5c) at += 1;
      else if (code === 0x22) inText = false;
    } else if (code === 0x22) inText = true;
    else if (code === 0x7b || code === 0x5b) {
      nodes += 1;
      if (++depth > MOST_DEPTH) throw new SyntaxError('the message is too deep');
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
    else if (code === 0x2c && ++nodes > MOST_NODES) throw new SyntaxError('the message has too many parts');
  }
}

/** Throws SyntaxError for what is not JSON, too deep or too large. `dropped` names the keys that were taken away. */
export function parseMessage(text: string): { value: unknown; dropped: string[] } {
  mustBeBounded(text);
  const value: unknown = JSON.parse(text);
  return { value, dropped: dropUnsafe(value) };
}

/**
 * Takes away keys with which code that merges objects would write to a prototype. They come in data that honest plugins pass
 * on, so they are no reason to end one. Returns their names.
 */
function dropUnsafe(root: unknown): string[] {
  const dropped: string[] = [];
  const waiting: unknown[] = [root];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (value === null || typeof value !== 'object') continue;
    for (const [key, inner] of Object.entries(value)) {
      if (isUnsafe(key, inner)) {
        Reflect.deleteProperty(value, key);
        dropped.push(key);
      } else if (typeof inner === 'object' && inner !== null) waiting.push(inner);
    }
  }
  return dropped;
}

const isUnsafe = (key: string, value: unknown): boolean =>
  key === '__proto__' ||
  (key === 'constructor' && typeof value === 'object' && value !== null && Object.hasOwn(value, 'prototype'));
