/** Charts and key figures of a PDF. Every value is also written as text, so that nothing depends on colour. */
import type { ChartSection, FiguresSection } from '../document.ts';
import { plainText, type Shown } from '../values.ts';
import { MARGIN, type Pages } from './pages.ts';

const LABEL = { size: 8 };
const SMALL = { size: 7, colour: '#52606d' };
const BAR_HEIGHT = 15;
const PLOT_HEIGHT = 150;
const TICKS = 4;
const FIGURE = { height: 46, across: 4, gap: 10 };

/** One line for each value: as many as there are flow over the pages. */
export function drawBars(pages: Pages, { heading, values, kind }: ChartSection, show: Shown): void {
  const { pen, doc, accent } = pages;
  pages.heading(heading, BAR_HEIGHT * 3);
  const numbers = values.map(({ value }) => value);
  const [low, high] = [Math.min(0, ...numbers), Math.max(0, ...numbers)];
  const side = pages.width * 0.28;
  const numberSpace = Math.max(0, ...numbers.map((value) => pen.width(show(value, kind), LABEL))) + 8;
  const plot = pages.width - side - numberSpace;
  const at = (value: number) => MARGIN + side + (high === low ? 0 : ((value - low) / (high - low)) * plot);
  for (const { label, value } of values) {
    pages.reserve(BAR_HEIGHT);
    const [line = ''] = pen.lines(plainText(label), side - 8, 1, LABEL);
    pen.draw(line, MARGIN, pages.y + 2, LABEL);
    const [from, to] = [Math.min(at(0), at(value)), Math.max(at(0), at(value))];
    doc.rect(from, pages.y + 2, Math.max(0.75, to - from), BAR_HEIGHT - 5).fill(accent);
    pen.draw(show(value, kind), to + 5, pages.y + 2, LABEL);
    pages.y += BAR_HEIGHT;
  }
  pages.y += 10;
}

export function drawLine(pages: Pages, { heading, values, kind }: ChartSection, show: Shown): void {
  const { pen, doc, accent } = pages;
  pages.heading(heading, PLOT_HEIGHT + 30);
  const numbers = values.map(({ value }) => value);
  const step = niceStep(Math.max(0, ...numbers) - Math.min(0, ...numbers));
  const low = Math.floor(Math.min(0, ...numbers) / step) * step;
  const high = Math.max(low + step, Math.ceil(Math.max(0, ...numbers) / step) * step);
  const ticks = Array.from({ length: Math.round((high - low) / step) + 1 }, (_, place) => low + place * step);
  const side = Math.max(...ticks.map((tick) => pen.width(show(tick, kind), SMALL))) + 8;
  const [left, top] = [MARGIN + side, pages.y + 4];
  const width = pages.width - side - 12;
  const height = (value: number) => top + PLOT_HEIGHT * (1 - (value - low) / (high - low));
  const across = (place: number) => left + (values.length > 1 ? (place / (values.length - 1)) * width : width / 2);
  for (const tick of ticks) {
    const y = height(tick);
    doc
      .moveTo(left, y)
      .lineTo(left + width, y)
      .lineWidth(tick === 0 ? 1 : 0.4)
      .stroke(tick === 0 ? '#52606d' : '#cbd2d9');
    const text = show(tick, kind);
    pen.draw(text, left - 6 - pen.width(text, SMALL), y - 5, SMALL);
  }
  for (const [place, { value }] of values.entries()) {
    if (place === 0) doc.moveTo(across(place), height(value));
    else doc.lineTo(across(place), height(value));
  }
  if (values.length > 0) doc.lineWidth(1.5).stroke(accent);
  for (const [place, { value }] of values.entries()) doc.circle(across(place), height(value), 2).fill(accent);
  labels(pages, values, across, top + PLOT_HEIGHT + 6, { left, right: left + width + 12 });
  pages.y = top + PLOT_HEIGHT + 28;
}

/** As many labels as have room; the last is always among them. */
function labels(
  { pen }: Pages,
  values: ChartSection['values'],
  across: (place: number) => number,
  y: number,
  { left, right }: { left: number; right: number },
): void {
  const texts = values.map(({ label }) => pen.lines(plainText(label), (right - left) / 3, 1, SMALL)[0] ?? '');
  const widest = Math.max(0, ...texts.map((text) => pen.width(text, SMALL))) + 8;
  const every = Math.max(1, Math.ceil((widest * values.length) / (right - left)));
  for (const [place, text] of texts.entries()) {
    if ((values.length - 1 - place) % every !== 0) continue;
    const width = pen.width(text, SMALL);
    pen.draw(text, Math.min(right - width, Math.max(left - 12, across(place) - width / 2)), y, SMALL);
  }
}

/** A step of 1, 2 or 5 times a power of ten. */
function niceStep(range: number): number {
  const raw = (range || 1) / TICKS;
  const power = 10 ** Math.floor(Math.log10(raw));
  return ([1, 2, 5].find((factor) => factor * power >= raw) ?? 10) * power;
}

export function drawFigures(pages: Pages, { heading, figures }: FiguresSection, show: Shown): void {
  const { pen, doc, accent } = pages;
  if (heading) pages.heading(heading, FIGURE.height);
  const width = (pages.width - FIGURE.gap * (FIGURE.across - 1)) / FIGURE.across;
  for (let first = 0; first < figures.length; first += FIGURE.across) {
    pages.reserve(FIGURE.height + FIGURE.gap);
    for (const [at, { label, value, kind }] of figures.slice(first, first + FIGURE.across).entries()) {
      const x = MARGIN + at * (width + FIGURE.gap);
      doc.rect(x, pages.y, width, FIGURE.height).fill('#f1f4f7');
      doc.rect(x, pages.y, 3, FIGURE.height).fill(accent);
      const large = { size: 15, isBold: true };
      const [text = ''] = pen.lines(show(value, kind), width - 18, 1, large);
      pen.draw(text, x + 11, pages.y + 6, large);
      const [name = ''] = pen.lines(plainText(label), width - 18, 1, LABEL);
      pen.draw(name, x + 11, pages.y + 29, { ...LABEL, colour: '#52606d' });
    }
    pages.y += FIGURE.height + FIGURE.gap;
  }
}
