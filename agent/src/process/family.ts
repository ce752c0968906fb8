/** Which processes belong to the agent itself and must be left alone. */

export interface Relative {
  pid: number;
  parentPid: number | null;
  /** ISO 8601; a parent that is younger than its child is another process that got the pid again. */
  startTime: string | null;
}

/** The process, all that it descends from and all that descends from it. */
export function familyOf(pid: number, processes: readonly Relative[]): Set<number> {
  const byPid = new Map(processes.map((one) => [one.pid, one]));
  const parentOf = (child: Relative): Relative | undefined => {
    const parent = child.parentPid === null ? undefined : byPid.get(child.parentPid);
    const stranger = parent?.startTime && child.startTime && parent.startTime > child.startTime;
    return parent && parent.pid !== child.pid && !stranger ? parent : undefined;
  };
  const lineOf = (from: Relative): number[] => {
    const line: number[] = [];
    for (let one: Relative | undefined = from; one && !line.includes(one.pid); one = parentOf(one)) line.push(one.pid);
    return line;
  };
  const own = byPid.get(pid);
  const family = new Set([pid, ...(own ? lineOf(own) : [])]);
  for (const one of processes) if (lineOf(one).includes(pid)) family.add(one.pid);
  return family;
}
