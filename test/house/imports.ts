/** The import graph of the repository: files, and what each imports, types included. */
import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { ROOT, type SourceFile } from './files.ts';

type Graph = ReadonlyMap<string, readonly string[]>;

const { imports: aliases } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  imports: Record<string, string>;
};

/** The file of this repository that an import names; undefined for npm packages and built-in modules. */
export function targetOf(from: string, name: string): string | undefined {
  if (name.startsWith('.')) return normalize(join(dirname(from), name));
  const alias = aliases[name];
  return alias === undefined ? undefined : normalize(alias);
}

export const graphOf = (files: readonly Pick<SourceFile, 'path' | 'imports'>[]): Graph =>
  new Map(files.map(({ path, imports }) => [path, imports.flatMap((name) => targetOf(path, name) ?? [])]));

/** The circles of the graph: each group of files that import each other, directly or through others. */
export function circlesOf(graph: Graph): string[][] {
  const state = new Map<string, { index: number; low: number; onStack: boolean }>();
  const stack: string[] = [];
  const circles: string[][] = [];
  const visit = (path: string): { index: number; low: number; onStack: boolean } => {
    const own = { index: state.size, low: state.size, onStack: true };
    state.set(path, own);
    stack.push(path);
    for (const target of graph.get(path) ?? []) {
      if (!graph.has(target)) continue;
      const other = state.get(target);
      if (!other) own.low = Math.min(own.low, visit(target).low);
      else if (other.onStack) own.low = Math.min(own.low, other.index);
    }
    if (own.low === own.index) {
      const group = stack.splice(stack.indexOf(path));
      for (const one of group) Object.assign(state.get(one) ?? {}, { onStack: false });
      if (group.length > 1 || graph.get(path)?.includes(path)) circles.push(group.sort());
    }
    return own;
  };
  for (const path of graph.keys()) if (!state.has(path)) visit(path);
  return circles;
}
