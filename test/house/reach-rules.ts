/** Which SQL statements concern rows that lie in a site or belong to a device, and whether each says how it keeps to the caller's reach. */
import { literalsOf } from './literals.ts';

/** Columns of tables whose rows lie in a site or belong to a device. */
const PLACING = /^\s*"?(?:site_id|device_id)"?\s/im;
/** Tables that are sites and devices themselves. */
const PLACES = ['devices', 'sites'];
const CREATED =
  /\bcreate\s+(?:unlogged\s+)?table\s+(?:if\s+not\s+exists\s+)?(?:public\.)?([a-z_]+)\s*\(([\s\S]*?)\n\)/gi;
const ADDED = /\balter\s+table\s+([a-z_]+)\s+add\s+(?:column\s+)?(?:if\s+not\s+exists\s+)?(?:site_id|device_id)\b/gi;

/** The tables of these migrations that the rule is about, with the columns that place their rows. */
export function placedTables(migrations: readonly string[]): Map<string, { site: boolean; device: boolean }> {
  const found = new Map<string, { site: boolean; device: boolean }>();
  for (const sql of migrations) {
    for (const [, table = '', columns = ''] of sql.matchAll(CREATED)) {
      const name = table.toLowerCase();
      if (!PLACES.includes(name) && !PLACING.test(columns)) continue;
      found.set(name, { site: /^\s*"?site_id"?\s/im.test(columns), device: /^\s*"?device_id"?\s/im.test(columns) });
    }
    for (const [column, table = ''] of sql.matchAll(ADDED)) {
      const known = found.get(table) ?? { site: false, device: false };
      found.set(table, {
        site: known.site || column.endsWith('site_id'),
        device: known.device || column.endsWith('device_id'),
      });
    }
  }
  return found;
}

export interface Statement {
  line: number;
  text: string;
}

/** SQL, not a sentence that happens to contain `from devices`. */
const SQL =
  /\b(?:select|insert\s+into|delete\s+from|update\s+\S+(?:\s+\w+)?\s+set|join\s+\S+\s+\w+\s+(?:on|using)|exists|truncate)\b|^[\s,]*(?:from|join|left\s+join|with)\b/;

/** The statements and parts of statements in this file that name one of the tables. */
export function statementsOver(text: string, tables: readonly string[]): Statement[] {
  const names = tables.join('|');
  const named = new RegExp(
    `\\b(?:from|join|update|into|using|truncate|table)\\s+(?:only\\s+)?(?:${names})\\b(?!\\()|,\\s*(?:${names})\\s+(?:as\\s+)?[a-z]{1,3}\\b`,
  );
  const literals = literalsOf(text);
  const alone = literals.some(({ text: name }) => tables.includes(name));
  // `update ${table} …` in a file that names such tables elsewhere, and `update device_${name} …`.
  const placeheld = (sql: string): boolean =>
    [...sql.matchAll(/\b(?:from|join|update|into)\s+(?:only\s+)?([a-z_]*)\$\{/g)].some(([, start = '']) =>
      start === ''
        ? alone && /\b(?:from|update|into)\s+\$\{(?:\w+\.)?table\}/.test(sql)
        : tables.some((table) => table.startsWith(start)),
    );
  return literals
    .filter(({ text: sql, isTemplate }) => SQL.test(sql) && (named.test(sql) || (isTemplate && placeheld(sql))))
    .map(({ text: sql, line }) => ({ text: sql, line }));
}

/** Whether the statement contains `reach(…)`, itself or in a constant of the file that it interpolates. */
export function containsReach(statement: string, file: string): boolean {
  if (/\$\{[^}]*\breach\(/.test(statement)) return true;
  return [...statement.matchAll(/\$\{\s*(\w+)/g)].some(([, name]) =>
    new RegExp(`\\bconst ${name} =[^;]*\\breach\\(`).test(file),
  );
}

export interface Reason {
  /** Line of the comment, from 1. */
  line: number;
  text: string;
}

/** The comment `// reach: <reason>` directly above the line, or above the beginning of its statement. */
export function reasonAbove(lines: readonly string[], line: number): Reason | null {
  for (let at = line - 2; at >= 0; at -= 1) {
    const above = lines[at]?.trim() ?? '';
    if (above.startsWith('//')) {
      const block: string[] = [];
      for (let from = at; from >= 0 && lines[from]?.trim().startsWith('//'); from -= 1) {
        block.unshift((lines[from] ?? '').trim().replace(/^\/\/\s?/, ''));
        const [first = ''] = block;
        if (first.startsWith('reach:')) {
          return { line: from + 1, text: block.join(' ').replace('reach:', '').trim() };
        }
      }
      return null;
    }
    if (above === '' || /(?:[;{}]|\*\/)$/.test(above)) return null;
  }
  return null;
}

/** A reason is a short sentence, not a word. */
export const isSentence = ({ text }: Reason): boolean => text.length >= 20 && text.split(/\s+/).length >= 4;
