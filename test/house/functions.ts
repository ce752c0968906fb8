/** The functions of a source file with their lengths, for the house rules. */
import { stripTypeScriptTypes } from 'node:module';
import { type Node, parse } from 'acorn';
import { ancestor } from 'acorn-walk';
import type { SourceFile } from './files.ts';

export interface FunctionLength {
  /** `path:name`, stable while lines move. */
  id: string;
  lines: number;
}

type Named = Node & {
  id?: { name?: string } | null;
  key?: { name?: string };
  left?: { name?: string };
};

/** Every function, method and arrow function; one without a name takes that of what it is assigned to, or of the function around it. */
export function functionsOf({ path, text }: Pick<SourceFile, 'path' | 'text'>): FunctionLength[] {
  const tree = parse(stripTypeScriptTypes(text), {
    ecmaVersion: 'latest',
    sourceType: 'module',
    locations: true,
    allowHashBang: true,
  });
  const found: FunctionLength[] = [];
  const add = (node: Node, _state: unknown, ancestors: Node[]) => {
    if (!node.loc) return;
    const name = ancestors.toReversed().map(nameOf).find(Boolean) ?? 'module';
    found.push({ id: `${path}:${name}`, lines: node.loc.end.line - node.loc.start.line + 1 });
  };
  ancestor(tree, { FunctionDeclaration: add, FunctionExpression: add, ArrowFunctionExpression: add });
  return found;
}

function nameOf(node: Node): string | undefined {
  const { id, key, left } = node as Named;
  return id?.name ?? key?.name ?? left?.name;
}
