/** What a unit of work leaves behind besides its rows, and the statement that writes it with the commit. */
import type pg from 'pg';

/** Written with the commit, or not at all. */
export interface Effects {
  audits: object[];
  events: object[];
  jobs: object[];
  notices: object[];
}

export const noEffects = (): Effects => ({ audits: [], events: [], jobs: [], notices: [] });

/**
 * The statements that write effects and the rows of `withCommit`; empty when there are none.
 * @param offered rows by the database function that takes them as a jsonb array
 */
export function flushStatements(
  client: pg.PoolClient,
  effects: Effects,
  offered: ReadonlyMap<string, readonly object[]>,
): string {
  const filled = Object.entries(effects).filter(([, list]) => list.length > 0);
  const statements: string[] = [];
  if (filled.length > 0) {
    statements.push(`select flush_effects(${client.escapeLiteral(storable(Object.fromEntries(filled)))}::jsonb);`);
  }
  for (const [into, rows] of offered) {
    statements.push(`select ${client.escapeIdentifier(into)}(${client.escapeLiteral(storable(rows))}::jsonb);`);
  }
  return statements.join('');
}

/** JSON that jsonb accepts: without NUL characters and lone surrogates. */
export function storable(value: unknown): string {
  return JSON.stringify(value, (_key, inner) =>
    typeof inner === 'string' ? inner.replaceAll('\0', '').toWellFormed() : inner,
  );
}
