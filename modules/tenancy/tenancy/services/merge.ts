/** JSON merge patch (RFC 7396): objects merge key by key, null removes a key, everything else replaces. */

export type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** The target with the changes applied; neither argument is altered ("only the keys sent are overwritten"). */
export function mergePatch(target: unknown, changes: Json): Json {
  const merged = new Map(Object.entries(isObject(target) ? target : {}));
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) merged.delete(key);
    else merged.set(key, isObject(value) ? mergePatch(merged.get(key), value) : value);
  }
  return Object.fromEntries(merged);
}
