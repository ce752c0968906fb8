/** Documents as PDF: pages are handed on as soon as they are full. */
import PDFDocument from 'pdfkit';
import type { DocumentDeclaration } from '../document.ts';
import { plainText, showValues } from '../values.ts';
import { drawBars, drawFigures, drawLine } from './charts.ts';
import { Pages } from './pages.ts';
import { drawTable } from './table.ts';

/** Tables with more columns lie across. */
const MAX_UPRIGHT_COLUMNS = 6;

/** A4, with fonts embedded as far as they are used. Draws only when what was drawn before has been taken. */
export async function* pdfOf(document: DocumentDeclaration): AsyncGenerator<Buffer> {
  const isWide = document.sections.some(
    (section) => section.type === 'table' && section.columns.length > MAX_UPRIGHT_COLUMNS,
  );
  const doc = new PDFDocument({
    size: 'A4',
    layout: isWide ? 'landscape' : 'portrait',
    margin: 0,
    autoFirstPage: false,
    // An empty name: without one, pdfkit loads a font that no page uses.
    font: '',
    info: { Title: plainText(document.title), Creator: 'Quartermaster', CreationDate: document.generatedAt },
  });
  const pages = new Pages(doc, document);
  for await (const _ of draw(pages, document)) {
    for (let part = doc.read(); part !== null; part = doc.read()) yield part as Buffer;
  }
  pages.end();
  doc.end();
  for await (const part of doc) yield part as Buffer;
}

async function* draw(pages: Pages, document: DocumentDeclaration): AsyncGenerator<void> {
  const show = showValues(document);
  pages.begin();
  for (const section of document.sections) {
    if (section.type === 'table') yield* drawTable(pages, section, show);
    else if (section.type === 'figures') drawFigures(pages, section, show);
    else if (section.type === 'bar-chart') drawBars(pages, section, show);
    else drawLine(pages, section, show);
    yield;
  }
}
