/** What an update changed, for the details of its entry: the fields by name, and their values before and after. */
import { isDeepStrictEqual } from 'node:util';

export interface Changes {
  changedFields: string[];
  before: Record<string, unknown>;
  after: Record<string, unknown>;
}

/** Characters of JSON of one value; a longer value is replaced by its length. */
const LONGEST = 2000;

/**
 * The details of an update. Of `settings`, which are many, only the members that differ are kept. Secrets need no care:
 * `ctx.audit` strikes out what lies under telling names, at any depth.
 * @param before the row, or what callers are shown of it, as it was; read it under a lock, or it may be another change's
 * @param after the same afterwards
 * @param changedFields as the caller named them; `settings.timezone` is that member of the field `settings`
 */
export function changesOf(before: object, after: object, changedFields: readonly string[]): Changes {
  const names = new Set(changedFields.map((name) => name.split('.')[0] ?? name));
  const [was, is] = [plain(before), plain(after)].map((row) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => names.has(name))),
  );
  const [left, right] = differing(was ?? {}, is ?? {});
  return { changedFields: [...changedFields], before: left, after: right };
}

type Members = Record<string, unknown>;

/** As JSON has it: times as text, nothing undefined. */
const plain = (value: object): Members => JSON.parse(JSON.stringify(value));

const isObject = (value: unknown): value is Members =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

function differing(before: Members, after: Members, within = false): [Members, Members] {
  const [left, right]: [Members, Members] = [{}, {}];
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was = null, is = null] = [before[name], after[name]];
    if (isDeepStrictEqual(was, is)) continue;
    const deeper = (within || name === 'settings') && isObject(was) && isObject(is);
    [left[name], right[name]] = deeper ? differing(was, is, true) : [brief(was), brief(is)];
  }
  return [left, right];
}

function brief(value: unknown): unknown {
  const { length } = JSON.stringify(value);
  return length > LONGEST ? `[${length} characters]` : value;
}
