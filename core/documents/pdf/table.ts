/** Tables of a PDF: the header stands on every page, and a row is never parted. */
import { type DocumentColumn, type DocumentRow, isCounted, type TableSection, type ValueKind } from '../document.ts';
import { Totals } from '../totals.ts';
import { plainText, type Shown } from '../values.ts';
import { MARGIN, type Pages } from './pages.ts';
import { LINE_HEIGHT, type Style } from './pen.ts';

const MAX_LINES = 4;
const PADDING = { x: 6, y: 3 };
const SHARES: Record<ValueKind, number> = {
  text: 2.2,
  integer: 1,
  number: 1,
  percent: 1,
  bytes: 1.2,
  date: 1.3,
  datetime: 1.9,
};

interface Placed extends DocumentColumn {
  x: number;
  space: number;
  isRight: boolean;
}

/** Yields after each row, so that what was drawn can be handed on. */
export async function* drawTable(pages: Pages, section: TableSection, show: Shown): AsyncGenerator<void> {
  const size = section.columns.length > 16 ? 5.5 : section.columns.length > 10 ? 6.5 : 8;
  const table = new Table(pages, placed(section.columns, pages, size), size, show);
  if (section.heading) pages.heading(section.heading, size * 8);
  const totals = new Totals(section.columns);
  table.header();
  let count = 0;
  for await (const row of section.rows) {
    totals.add(row);
    table.row(row, count++ % 2 === 1);
    yield;
  }
  if (count === 0) table.empty();
  const total = totals.row();
  if (total) table.total(total);
  pages.y += 10;
}

/** By their shares of the page; a column is wide enough for each word of its heading, where there is room for that. */
function placed(columns: readonly DocumentColumn[], pages: Pages, size: number): Placed[] {
  const style = { size, isBold: true, colour: '#ffffff' };
  const least = columns.map(({ label }) => {
    const words = plainText(label).split(/\s+/);
    return Math.ceil(Math.max(...words.map((word) => pages.pen.width(word, style)))) + 2 * PADDING.x;
  });
  const spaces = spacesOf(columns, pages.width, least);
  let x = MARGIN;
  return columns.map((column, at) => {
    const space = spaces[at] ?? 0;
    x += space;
    const isRight = column.align ? column.align === 'right' : isCounted(column.kind);
    return { ...column, x: x - space, space, isRight };
  });
}

function spacesOf(columns: readonly DocumentColumn[], width: number, least: readonly number[]): number[] {
  const shares = columns.map(({ width: own, kind }) => own ?? SHARES[kind]);
  const whole = shares.reduce((sum, share) => sum + share, 0);
  if (least.reduce((sum, space) => sum + space, 0) > width) return shares.map((share) => (width * share) / whole);
  // Columns that would be too narrow get their least, the others share what is left; that can make further ones too narrow.
  const fixed = new Map<number, number>();
  for (;;) {
    const left = width - [...fixed.values()].reduce((sum, space) => sum + space, 0);
    const open = shares.reduce((sum, share, at) => (fixed.has(at) ? sum : sum + share), 0);
    const spaces = shares.map((share, at) => fixed.get(at) ?? (left * share) / open);
    const narrow = spaces.findIndex((space, at) => !fixed.has(at) && space < (least[at] ?? 0));
    if (narrow < 0) return spaces;
    fixed.set(narrow, least[narrow] ?? 0);
  }
}

class Table {
  private readonly pages: Pages;
  private readonly columns: Placed[];
  private readonly size: number;
  private readonly show: Shown;

  constructor(pages: Pages, columns: Placed[], size: number, show: Shown) {
    this.pages = pages;
    this.columns = columns;
    this.size = size;
    this.show = show;
  }

  header(): void {
    const style = { size: this.size, isBold: true, colour: '#ffffff' };
    const cells = this.cells(({ label }) => plainText(label), style);
    const row = this.size * LINE_HEIGHT + 2 * PADDING.y;
    this.pages.reserve(this.height(cells) + row);
    this.put(cells, style, this.pages.accent);
  }

  row(row: DocumentRow, isShaded: boolean): void {
    const style = { size: this.size };
    const cells = this.cells(({ key, kind }) => this.show(row[key], kind), style);
    if (this.pages.reserve(this.height(cells))) this.header();
    this.put(cells, style, isShaded ? '#f1f4f7' : null);
  }

  total(row: DocumentRow): void {
    const style = { size: this.size, isBold: true };
    const text = (value: DocumentRow[string], kind: ValueKind) =>
      typeof value === 'string' ? value : this.show(value, kind);
    const cells = this.cells(({ key, kind }) => text(row[key], kind), style);
    if (this.pages.reserve(this.height(cells))) this.header();
    this.pages.doc.rect(MARGIN, this.pages.y, this.pages.width, 1).fill(this.pages.accent);
    this.put(cells, style, null);
  }

  empty(): void {
    this.pages.pen.draw('No rows', MARGIN + PADDING.x, this.pages.y + PADDING.y, {
      size: this.size,
      colour: '#52606d',
    });
    this.pages.y += this.size * LINE_HEIGHT + 2 * PADDING.y;
  }

  private cells(text: (column: Placed) => string, style: Style): string[][] {
    return this.columns.map((column) =>
      this.pages.pen.lines(text(column), column.space - 2 * PADDING.x, MAX_LINES, style),
    );
  }

  private height(cells: string[][]): number {
    const lines = Math.max(...cells.map(({ length }) => length));
    return lines * this.size * LINE_HEIGHT + 2 * PADDING.y;
  }

  private put(cells: string[][], style: Style, ground: string | null): void {
    const { pages } = this;
    const height = this.height(cells);
    if (ground) pages.doc.rect(MARGIN, pages.y, pages.width, height).fill(ground);
    for (const [at, { x, space, isRight }] of this.columns.entries()) {
      let y = pages.y + PADDING.y;
      for (const line of cells[at] ?? []) {
        const left = isRight ? x + space - PADDING.x - pages.pen.width(line, style) : x + PADDING.x;
        pages.pen.draw(line, left, y, style);
        y += this.size * LINE_HEIGHT;
      }
    }
    pages.y += height;
  }
}
