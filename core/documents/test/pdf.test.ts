/** PDF files as poppler reads them. Without `pdftotext` (Debian: poppler-utils) they are only checked to be written. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import type { DocumentDeclaration, DocumentRow } from '../document.ts';
import { writeDocument } from '../write.ts';
import { COLUMNS, collected, SCRIPTS, sample } from './sample.ts';

const run = promisify(execFile);
const hasPoppler = spawnSync('pdftotext', ['-v']).status === 0;

/** What a tool of poppler prints of the document; null where it is not installed. */
async function seen(t: ExecutionContext, tool: string, document: DocumentDeclaration, ...options: string[]) {
  const bytes = await collected(writeDocument('pdf', document));
  t.is(bytes.subarray(0, 5).toString(), '%PDF-');
  if (!hasPoppler) {
    t.log('not read back: poppler-utils is not installed');
    return null;
  }
  const folder = await mkdtemp(join(tmpdir(), 'documents-'));
  const file = join(folder, 'report.pdf');
  await writeFile(file, bytes);
  const { stdout, stderr } = await run(tool, tool === 'pdftotext' ? [...options, file, '-'] : [...options, file]);
  await rm(folder, { recursive: true });
  t.is(stderr, '');
  return stdout;
}

const ofRows = (rows: DocumentRow[]) => ({
  ...sample(0),
  sections: [{ type: 'table' as const, columns: COLUMNS, rows }],
});

test('every page has the header of the table and its number of all pages; no row is lost', async (t) => {
  const text = await seen(t, 'pdftotext', sample(120), '-layout');
  if (text === null) return;
  const pages = text.split('\f').slice(0, -1);
  t.true(pages.length > 3);
  for (const [at, page] of pages.entries()) {
    t.true(page.includes(`Page ${at + 1} of ${pages.length}`), page.slice(-120));
    if (at > 0) t.regex(page, /Device +Note/);
  }
  for (let at = 0; at < 120; at += 1) t.regex(text, new RegExp(`PC-${at}\\b`));
  t.regex(text, /Total +357 +[\d.]+% +[\d.]+ GiB/);
  t.true(text.includes('25 Oct 2026, 09:00 (Europe/Berlin)'));
});

test('text of every script can be read out of the file, in fonts that are embedded', async (t) => {
  const text = await seen(t, 'pdftotext', sample(8), '-layout');
  if (text === null) return;
  for (const script of SCRIPTS.filter((one) => !one.includes('('))) {
    for (const word of script.split(' ')) t.true(text.includes(word), word);
  }
  const fonts = (await seen(t, 'pdffonts', sample(8))) ?? '';
  for (const line of fonts.trim().split('\n').slice(2)) t.regex(line, /yes yes yes/, line);
});

test('the logo stands in the file once', async (t) => {
  const list = await seen(t, 'pdfimages', sample(120), '-list');
  if (list === null) return;
  const images = list.trim().split('\n').slice(2);
  t.is(images.length, 1);
  t.regex(images[0] ?? '', /120 +40 +rgb/);
});

test('a long text wraps and ends with an ellipsis; half pairs and unknown characters do no harm', async (t) => {
  const rows = [
    { name: 'x'.repeat(5_000), note: `word ${'and more '.repeat(2_000)}`, patches: 1 },
    { note: 'a\ud800\u0000𒀀b' },
  ];
  const text = await seen(t, 'pdftotext', ofRows(rows), '-layout');
  if (text === null) return;
  t.is(text.match(/…/g)?.length, 2);
  t.is(text.split('\f').length - 1, 1);
});

test('a document without rows, and one without sections, are whole files', async (t) => {
  const text = await seen(t, 'pdftotext', ofRows([]));
  if (text !== null) t.regex(text, /No rows/);
  const bare = await seen(t, 'pdftotext', { ...sample(0), sections: [] });
  if (bare !== null) t.regex(bare, /Page 1 of 1/);
});
