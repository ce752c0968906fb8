/** CSV and XLSX files, read back by other libraries, and declarations that cannot be written. */
import test from 'ava';
import { parse } from 'csv-parse/sync';
import readXlsx from 'read-excel-file/node';
import { AppError } from '../../errors.ts';
import type { DocumentDeclaration, DocumentRow } from '../document.ts';
import { writeDocument } from '../write.ts';
import { COLUMNS, collected, row, SCRIPTS, sample } from './sample.ts';

const withRows = (
  rows: Iterable<DocumentRow> | AsyncIterable<DocumentRow>,
  more: Partial<DocumentDeclaration> = {},
) => ({
  ...sample(0),
  sections: [{ type: 'table' as const, columns: COLUMNS, rows }],
  ...more,
});
const csv = async (document: DocumentDeclaration) => (await collected(writeDocument('csv', document))).toString();

test('CSV holds the rows as programs read them, and nothing else of the document', async (t) => {
  const records = parse(await csv(sample(20))) as string[][];
  t.is(records.length, 21);
  t.deepEqual(
    records[0],
    COLUMNS.map(({ label }) => label),
  );
  t.deepEqual(records[9], ['PC-8', SCRIPTS[0], '1', '0.08', '8388608', '2026-10-25T00:08:00.000Z', '2027-01-31']);
});

test('a text that a spreadsheet would run as a formula is quoted in CSV, a negative number is not', async (t) => {
  for (const name of ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '＝1']) {
    const text = await csv(withRows([{ name, patches: -3 }]));
    const [, record = []] = parse(text) as string[][];
    t.is(record[0], `'${name}`);
    t.is(record[2], '-3');
  }
});

test('a CSV file begins with a byte order mark where that is asked for', async (t) => {
  t.true((await csv(withRows([], { byteOrderMark: true }))).startsWith('\uFEFFDevice,'));
});

test('days are those of the time zone of the document', async (t) => {
  const until = new Date('2026-12-31T23:30:00Z');
  t.regex(await csv(withRows([{ until }], { zone: 'Asia/Tokyo' })), /,2027-01-01\n$/);
  t.regex(await csv(withRows([{ until }], { zone: 'America/Lima' })), /,2026-12-31\n$/);
});

test('XLSX is read by another library with numbers, moments, texts of all scripts and totals', async (t) => {
  const [sheet] = await readXlsx(await collected(writeDocument('xlsx', sample(20))));
  const lines = (sheet?.data ?? []) as unknown[][];
  const start = lines.findIndex((line) => line[0] === 'Device');
  t.is(lines[0]?.[0], 'Patch compliance');
  t.is(lines.find((line) => line[0] === 'Critical')?.[1], 40);
  for (const [at, note] of SCRIPTS.entries()) t.is(lines[start + 1 + at]?.[1], note);
  const [, , patches, share, disk, seen, until] = lines[start + 2] ?? [];
  t.deepEqual([patches, share, disk], [1, 0.01, 1_048_576]);
  t.is((seen as Date).toISOString(), '2026-10-25T02:01:00.000Z', 'the clock of Berlin');
  t.is((until as Date).toISOString().slice(0, 10), '2027-01-31');
  const sum = Array.from({ length: 20 }, (_, at) => Number(row(at).patches)).reduce((one, other) => one + other);
  t.deepEqual(lines.at(-1)?.slice(0, 3), ['Total', null, sum]);
});

test('XLSX keeps texts that look like formulas as texts, and drops characters that XML forbids', async (t) => {
  const rows = [{ name: '=1+1', note: 'a\u0000b\u001b\ud800 <&>' }];
  const [sheet] = await readXlsx(await collected(writeDocument('xlsx', withRows(rows))));
  const line = ((sheet?.data ?? []) as unknown[][]).find((cells) => cells[0] === '=1+1');
  t.is(line?.[1], 'ab\ufffd <&>');
});

test('a declaration that cannot be written is refused with the path of each fault', (t) => {
  const wrong: DocumentDeclaration = {
    ...sample(0),
    zone: 'Mars/Base',
    locale: '!',
    accent: 'red',
    logo: Buffer.from('<svg/>'),
    sections: [{ type: 'table', columns: [{ key: 'a', label: 'A', kind: 'text', total: 'sum' }], rows: [] }],
  };
  const error = t.throws(() => writeDocument('pdf', wrong), { instanceOf: AppError });
  t.is(error?.code, 'VALIDATION_ERROR');
  const paths = ((error?.details ?? []) as { path: string }[]).map(({ path }) => path);
  t.deepEqual(paths, ['locale', 'zone', 'accent', 'logo', 'sections.0.columns.0.total']);
});

for (const format of ['csv', 'xlsx', 'pdf'] as const) {
  test(`${format}: rows are read no faster than the document is, and end when it is given up`, async (t) => {
    let read = 0;
    const ended = Promise.withResolvers<void>();
    async function* endless() {
      try {
        for (;;) yield row(read++);
      } finally {
        ended.resolve();
      }
    }
    const stream = writeDocument(format, withRows(endless()));
    for await (const _ of stream) break;
    const after = read;
    t.true(after < 20_000, `${after} rows for the first part`);
    t.true(stream.destroyed);
    await t.notThrowsAsync(ended.promise);
  });

  test(`${format}: an error of the rows is the error of the document`, async (t) => {
    async function* broken() {
      yield row(1);
      throw new Error('the cursor is gone');
    }
    await t.throwsAsync(collected(writeDocument(format, withRows(broken()))), { message: 'the cursor is gone' });
  });
}
