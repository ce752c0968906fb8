/** Rows of documents a second, beside what the libraries below take for the same cells. */
import { stringify } from 'csv-stringify/sync';
import { writeXlsxStream } from 'hucre/xlsx';
import PDFDocument from 'pdfkit';
import type { DocumentFormat } from '../../../core/documents/document.ts';
import { COLUMNS, rows, sample } from '../../../core/documents/test/sample.ts';
import { writeDocument } from '../../../core/documents/write.ts';
import { inTurns, rounded, type Scenario } from '../scenario.ts';

const ROWS: Record<DocumentFormat, number> = { csv: 50_000, xlsx: 20_000, pdf: 4_000 };
const TURNS = 3;
const BATCH = 200;

export const scenario: Scenario = {
  title: `rows a second of ${COLUMNS.length} columns, against bare csv-stringify, hucre and pdfkit`,
  async run() {
    const figures: Record<string, number> = {};
    for (const format of ['csv', 'xlsx', 'pdf'] as const) {
      const count = ROWS[format];
      const sections = () => [{ type: 'table' as const, columns: COLUMNS, rows: rows(count) }];
      const speed = async (make: () => AsyncIterable<unknown>) => {
        const begin = performance.now();
        for await (const _ of make());
        return (count * 1000) / (performance.now() - begin);
      };
      const { ours, bare, ratio } = await inTurns(
        TURNS,
        () => speed(() => writeDocument(format, { ...sample(0), sections: sections() })),
        () => speed(() => BARE[format](count)),
      );
      Object.assign(figures, { [`${format}: rows/s`]: ours, [`${format}: bare`]: bare, [`${format}: ratio`]: ratio });
    }
    figures['resident, MB'] = rounded(process.memoryUsage.rss() / 1e6);
    return figures;
  },
};

const cells = (count: number) => rows(count).map((row) => COLUMNS.map(({ key }) => row[key] as string | number | Date));

const BARE: Record<DocumentFormat, (count: number) => AsyncIterable<unknown>> = {
  async *csv(count) {
    let batch: unknown[][] = [];
    for (const row of cells(count)) if (batch.push(row) === BATCH) yield stringify(batch.splice(0));
    yield stringify(batch);
    batch = [];
  },
  xlsx: (count) => writeXlsxStream(cells(count), { name: 'Report' }),
  /** Text in a standard font, in places that are counted and not measured. */
  async *pdf(count) {
    const doc = new PDFDocument({ size: 'A4', layout: 'landscape', margin: 0 });
    let y = 40;
    for (const row of cells(count)) {
      for (const [at, cell] of row.entries()) {
        doc.fontSize(8).text(String(cell).slice(0, 20), 40 + at * 108, y, { lineBreak: false });
      }
      y += 16;
      if (y < 540) continue;
      doc.addPage();
      y = 40;
      for (let part = doc.read(); part !== null; part = doc.read()) yield part;
    }
    doc.end();
    yield* doc;
  },
};
