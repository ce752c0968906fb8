/** Documents as XLSX workbooks of one sheet. */
import { type ColumnDef, type CellValue as SheetValue, writeXlsxStream } from 'hucre/xlsx';
import type { CellValue, DocumentColumn, DocumentDeclaration, DocumentSection, ValueKind } from './document.ts';
import { isCounted } from './document.ts';
import { Totals } from './totals.ts';
import { dateOf, isDay, numberOf, plainText, showValues, wallClock } from './values.ts';

/** Excel's own limit. */
const MAX_CELL_CHARACTERS = 32_767;
const MIN_WIDTH = 12;
const FORMATS: Partial<Record<ValueKind, string>> = {
  integer: '#,##0',
  number: '#,##0.##',
  percent: '0.0%',
  bytes: '#,##0',
  date: 'yyyy-mm-dd',
  datetime: 'yyyy-mm-dd hh:mm:ss',
};
const BOLD = { font: { bold: true } };

/**
 * Everything of the document but logo and colour, each section below the other; charts as their values. Cells are typed, moments
 * show the clock of the document's time zone. Texts are never formulas. After 1,048,576 rows it goes on in a second sheet.
 */
export function xlsxOf(document: DocumentDeclaration): AsyncIterable<Uint8Array> {
  const tables = document.sections.filter((section) => section.type === 'table');
  const count = Math.max(2, ...tables.map(({ columns }) => columns.length));
  const columns: ColumnDef[] = Array.from({ length: count }, (_, at) => ({ width: widthOf(at, document.sections) }));
  return writeXlsxStream(rowsOf(document, columns), { name: 'Report', columns, repeatHeaders: false });
}

const widthOf = (at: number, sections: readonly DocumentSection[]): number =>
  Math.max(
    MIN_WIDTH,
    ...sections.map((section) => {
      const column = section.type === 'table' ? section.columns[at] : undefined;
      if (!column) return section.type === 'table' || at > 0 ? 0 : 24;
      return Math.max(column.label.length + 2, column.kind === 'text' || column.kind === 'datetime' ? 22 : 0);
    }),
  );

/** The writer reads the format of a column with each row, so it is set before the row is handed over. */
async function* rowsOf(document: DocumentDeclaration, columns: ColumnDef[]): AsyncGenerator<SheetValue[]> {
  const typed = cells(document.zone);
  const line = (values: SheetValue[], kinds: readonly ValueKind[] = [], isBold = false) => {
    for (const [at, column] of columns.entries()) {
      const numFmt = FORMATS[kinds[at] ?? 'text'];
      column.style = { ...(isBold ? BOLD : {}), ...(numFmt ? { numFmt } : {}) };
    }
    return values;
  };
  yield line([text(document.title)], [], true);
  if (document.subtitle) yield line([text(document.subtitle)]);
  yield line([`Generated ${showValues(document)(document.generatedAt, 'datetime')} (${document.zone})`]);
  for (const section of document.sections) {
    yield line([]);
    if (section.heading) yield line([text(section.heading)], [], true);
    if (section.type === 'figures') {
      for (const { label, value, kind } of section.figures) {
        yield line([text(label), typed(value, kind)], ['text', kind]);
      }
    } else if (section.type !== 'table') {
      for (const { label, value } of section.values) yield line([text(label), value], ['text', section.kind]);
    } else {
      const totals = new Totals(section.columns);
      const kinds = section.columns.map(({ kind }) => kind);
      const cellsOf = (row: Readonly<Record<string, CellValue>>) =>
        section.columns.map(({ key, kind }: DocumentColumn) => typed(row[key], kind));
      yield line(
        section.columns.map(({ label }) => text(label)),
        [],
        true,
      );
      for await (const row of section.rows) {
        totals.add(row);
        yield line(cellsOf(row), kinds);
      }
      const total = totals.row();
      if (total) yield line(cellsOf(total), kinds, true);
    }
  }
}

const text = (value: CellValue): string => plainText(value).slice(0, MAX_CELL_CHARACTERS).toWellFormed();

function cells(zone: string): (value: CellValue, kind: ValueKind) => SheetValue {
  const local = wallClock(zone);
  return (value, kind) => {
    if (value === null || value === undefined) return null;
    if (isCounted(kind)) return numberOf(value) ?? text(value);
    if (kind === 'text') return text(value);
    const date = dateOf(value);
    if (!date || date.getUTCFullYear() < 1900) return text(value);
    if (isDay(value)) return date;
    const moment = local(date);
    if (kind === 'date') moment.setUTCHours(0, 0, 0, 0);
    return moment;
  };
}
