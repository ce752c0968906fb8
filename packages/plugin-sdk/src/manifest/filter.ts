/** The filter of a hook: paths into the event, and the values of which one is wanted. */
import type { HookDeclaration } from './types.ts';

/** True where all paths of the filter lead to a wanted value. */
export function matchesFilter(filter: HookDeclaration['filter'], event: object): boolean {
  return Object.entries(filter ?? {}).every(([path, wanted]) => {
    const found = valueAt(event, path);
    const values: unknown[] = Array.isArray(found) ? found : [found];
    const any: unknown[] = Array.isArray(wanted) ? wanted : [wanted];
    return values.some((value) => any.includes(value));
  });
}

function valueAt(root: object, path: string): unknown {
  let value: unknown = root;
  for (const part of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}
