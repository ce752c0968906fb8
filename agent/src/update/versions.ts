/** Compares versions of the form `1.2.3` and `1.2.3-rc.4`; the agent carries no library for it. */

const FORM = /^(\d{1,5})\.(\d{1,5})\.(\d{1,5})(?:-rc\.(\d{1,4}))?$/;

/** Negative where `a` is lower, positive where it is higher; undefined where one of them is no such version. */
export function compareVersions(a: string, b: string): number | undefined {
  const [left, right] = [FORM.exec(a), FORM.exec(b)];
  if (!left || !right) return undefined;
  for (const part of [1, 2, 3]) {
    const difference = Number(left[part]) - Number(right[part]);
    if (difference !== 0) return difference;
  }
  // A release comes after its candidates.
  const candidate = (found: RegExpExecArray) => (found[4] === undefined ? Number.POSITIVE_INFINITY : Number(found[4]));
  return candidate(left) === candidate(right) ? 0 : candidate(left) - candidate(right);
}
