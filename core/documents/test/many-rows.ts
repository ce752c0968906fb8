/** A process of its own: writes so many rows in a format, and prints the bytes. */
import { writeDocument } from '../write.ts';
import { COLUMNS, rows, sample } from './sample.ts';

const [, , format, count] = process.argv;
const sections = [{ type: 'table' as const, columns: COLUMNS, rows: rows(Number(count)) }];
let bytes = 0;
for await (const part of writeDocument(format as 'csv', { ...sample(0), sections })) bytes += part.length;
process.stdout.write(`${bytes}\n`);
