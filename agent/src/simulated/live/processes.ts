/** Invented processes: they can be listed, looked at and ended, except those that a device needs. */
import type { ProcessItem } from '#agent-protocol';
import { ToolError } from '../../tools/contract.ts';
import { SOFTWARE } from '../catalog.ts';
import { found, holds, type LiveTool, pageOf } from './answers.ts';

export function processTools(): Record<string, LiveTool> {
  const programs = ['init', 'agent', ...SOFTWARE.map(([name]) => name)];
  const running = programs.flatMap((name, n) =>
    Array.from(
      { length: 1 + ((n * 7) % 4) },
      (_, copy): ProcessItem => ({
        pid: n === 0 ? 1 : 100 + n * 40 + copy,
        name,
        cpuPercent: (n * 13 + copy * 7) % 40,
        memoryMb: 20 + ((n * 97 + copy * 31) % 900),
        user: n % 3 === 0 ? 'root' : 'ada',
        status: n % 5 === 0 ? 'sleeping' : 'running',
        commandLine: `${name} --simulated`,
        parentPid: n === 0 ? null : 1,
        threads: 1 + (n % 16),
        startTime: '2026-01-05T08:00:00.000Z',
      }),
    ),
  );
  const processes = new Map(running.map((one) => [one.pid, one]));
  const of = (pid: unknown) => found(processes.get(Number(pid)), `process ${String(pid)}`);
  const KEYS = { cpu: 'cpuPercent', memory: 'memoryMb', name: 'name', pid: 'pid' } as const;
  return {
    list_processes(payload) {
      const key = KEYS[payload.sort as keyof typeof KEYS] ?? 'pid';
      const way = payload.sortDir === 'desc' ? -1 : 1;
      const fit = [...processes.values()].filter(({ name, user }) => holds(payload.search, name, user));
      const order = (a: ProcessItem, b: ProcessItem) => {
        const [one, other] = [a[key] ?? 0, b[key] ?? 0];
        return one === other ? a.pid - b.pid : (one < other ? -1 : 1) * way;
      };
      return pageOf(fit.sort(order), payload);
    },
    get_process: ({ pid }) => of(pid),
    kill_process({ pid, expectedName, expectedStartTime }) {
      const process = of(pid);
      if (process.pid === 1 || process.name === 'agent') throw new ToolError('PROTECTED', 'This process must not end');
      if (
        (expectedName ?? process.name) !== process.name ||
        (expectedStartTime ?? process.startTime) !== process.startTime
      )
        throw new ToolError('CONFLICT', 'Another process has this id now');
      processes.delete(process.pid);
      return { pid: process.pid };
    },
  };
}
