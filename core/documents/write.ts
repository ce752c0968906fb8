/** Writing a document as a stream, in memory that does not grow with its rows. */
import { Readable } from 'node:stream';
import { csvOf } from './csv.ts';
import { type DocumentDeclaration, type DocumentFormat, mustBeWritable } from './document.ts';
import { pdfOf } from './pdf/write.ts';
import { xlsxOf } from './xlsx.ts';

const WRITERS = { csv: csvOf, xlsx: xlsxOf, pdf: pdfOf };

/** What a file of each format is served as, and how its name ends. */
export const DOCUMENT_TYPES: Record<DocumentFormat, { type: string; extension: string }> = {
  csv: { type: 'text/csv; charset=utf-8', extension: 'csv' },
  xlsx: { type: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', extension: 'xlsx' },
  pdf: { type: 'application/pdf', extension: 'pdf' },
};

/**
 * Bytes of the document. Rows are read only as fast as the stream is; an error of theirs destroys the stream, and destroying the
 * stream ends them. Throws 400 VALIDATION_ERROR with the paths of what cannot be written, before any row is read.
 */
export function writeDocument(format: DocumentFormat, document: DocumentDeclaration): Readable {
  mustBeWritable(document);
  return Readable.from(bytesOf(WRITERS[format](document)), { objectMode: false });
}

async function* bytesOf(parts: AsyncIterable<string | Uint8Array>): AsyncGenerator<Buffer> {
  for await (const part of parts) yield typeof part === 'string' ? Buffer.from(part) : Buffer.from(part);
}
