/** What an error of the database means is read in one place, which sees through the wrapping of the model layer. */
import test from 'ava';
import { sourceFiles } from './files.ts';

const READER = 'core/database/errors.ts';
/** Codes of PostgreSQL next to a field `code` of something that was not read by the reader. */
const OWN_READING =
  /\bas \{[^}]*\bcode\?: string[^}]*\}\)\.code\s*[!=]==?\s*'[0-9A-Z]{5}'|error\.code\??\.startsWith\('\d\d'\)/;

test('only databaseErrorOf() looks into errors of the database', (t) => {
  const product = sourceFiles().filter(({ path }) => !/(^|\/)test\/|\.test\.ts$/.test(path) && path !== READER);
  const faults = product.filter(({ text }) => text.includes('nativeError') || OWN_READING.test(text));
  t.deepEqual(
    faults.map(({ path }) => path),
    [],
  );
});
