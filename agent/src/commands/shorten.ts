/** Keeps the result of a tool within what the wire takes. */

/** Bytes of JSON of one result. */
const MAX_BYTES = 2 * 1024 * 1024;
/** Room for what stands around a list. */
const FRAME_BYTES = 16 * 1024;

/**
 * A result that is too large loses the last entries of its list, and says so where its shape has a place for it
 * (`truncated`). The other shapes are bounded where they are made.
 */
export function shortened(result: unknown): unknown {
  if (sizeOf(result) <= MAX_BYTES || typeof result !== 'object' || result === null) return result;
  const list = Object.entries(result).find((member): member is [string, unknown[]] => Array.isArray(member[1]));
  if (!list) return result;
  const [name, items] = list;
  let room = MAX_BYTES - FRAME_BYTES;
  const kept = items.filter((item) => {
    if (room > 0) room -= sizeOf(item) + 1;
    return room > 0;
  });
  return { ...result, [name]: kept, ...('truncated' in result && { truncated: true }) };
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}
