/** Remembers for a moment which files of a folder are hidden: a listing asks for each, the system is asked once. */

const REMEMBERED_MS = 5_000;
const MAX_FOLDERS = 100;

type Names = (folder: string, signal: AbortSignal) => Promise<Iterable<string>>;

/** Asks `names` at most every five seconds a folder; a folder that cannot be read hides nothing and is asked again. */
export function hiddenByFolder(
  names: Names,
  now: () => number = () => performance.now(),
): (folder: string, signal: AbortSignal) => Promise<ReadonlySet<string>> {
  const known = new Map<string, { until: number; found: Promise<ReadonlySet<string>> }>();
  return (folder, signal) => {
    const remembered = known.get(folder);
    if (remembered && remembered.until > now()) return remembered.found;
    if (known.size >= MAX_FOLDERS) known.clear();
    const found = names(folder, signal).then(
      (list) => new Set(list),
      () => {
        known.delete(folder);
        return new Set<string>();
      },
    );
    known.set(folder, { until: now() + REMEMBERED_MS, found });
    return found;
  };
}
