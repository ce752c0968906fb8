/** Tables as CSV, after RFC 4180 except for line ends. */
import { stringify } from 'csv-stringify/sync';
import type { CellValue, DocumentColumn, DocumentDeclaration } from './document.ts';
import { isCounted } from './document.ts';
import { dateOf, isDay, numberOf, wallClock } from './values.ts';

/** Rows of text before it is handed on. */
const BATCH_ROWS = 200;
/** What a spreadsheet takes for a formula, in ASCII and full width. */
const FORMULA = /^[=+\-@\t\r\uFF1D\uFF0B\uFF0D\uFF20]/;

/**
 * Lines of CSV. A text that a spreadsheet would run as a formula gets an apostrophe in front, because the data comes from
 * tenants and administrators open the file; numbers do not.
 */
export const csvLines = (rows: readonly (readonly (string | number | null | undefined)[])[]): string =>
  stringify(
    rows.map((row) => row.map((value) => (typeof value === 'string' && FORMULA.test(value) ? `'${value}` : value))),
    { quoted_match: /[\r\n]/ },
  );

/**
 * Only the tables: header and rows, without titles, totals, figures and charts, which programs would take for rows. Tables are
 * parted by an empty line. Numbers are plain, moments in UTC (ISO 8601), days `YYYY-MM-DD` in the document's time zone.
 */
export async function* csvOf(document: DocumentDeclaration): AsyncGenerator<string> {
  const local = wallClock(document.zone);
  if (document.byteOrderMark) yield '\uFEFF';
  let isFirst = true;
  for (const section of document.sections) {
    if (section.type !== 'table') continue;
    yield `${isFirst ? '' : '\n'}${csvLines([section.columns.map(({ label }) => label)])}`;
    isFirst = false;
    let batch: (string | number | null)[][] = [];
    for await (const row of section.rows) {
      batch.push(section.columns.map((column) => cell(row[column.key], column, local)));
      if (batch.length < BATCH_ROWS) continue;
      yield csvLines(batch);
      batch = [];
    }
    if (batch.length > 0) yield csvLines(batch);
  }
}

function cell(value: CellValue, { kind }: DocumentColumn, local: (date: Date) => Date): string | number | null {
  if (value === null || value === undefined) return null;
  if (isCounted(kind)) return numberOf(value) ?? String(value);
  if (kind === 'text') return value instanceof Date ? value.toISOString() : String(value).toWellFormed();
  if (isDay(value)) return value;
  const date = dateOf(value);
  if (!date) return String(value);
  return kind === 'datetime' ? date.toISOString() : local(date).toISOString().slice(0, 10);
}
