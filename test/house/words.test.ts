/** Product code keeps to the words of docs/glossary.md and uses none of those that are retired there. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'ava';
import { ROOT, sourceFiles } from './files.ts';

/** A file of this name exempts its folder until no retired word is left in it; then the file must go. */
const MARKER = '.retired-words';
/** Files in folders that are in order, exempt by themselves; each must go from here when it is in order. */
const FILES: readonly string[] = [];
/** The actor of an anonymous request, a name of the published contract, and the user of that name on Unix systems. */
const ALLOWED = /\bNOBODY\b|['`]nobody['`]/g;
const GENERATED = ['client/src/schema.ts', 'client/src/keyed-operations.ts'];

const product = sourceFiles().filter(({ path }) => !/(^|\/)test\/|\.test\.ts$/.test(path) && !GENERATED.includes(path));
const { words, phrases } = readRetired();
const exempt = markedFolders();

test('the glossary lists terms, and retired words that are no terms', (t) => {
  t.true(words.size > 10 && phrases.length > 10);
  const terms = [...glossary().matchAll(/^\| \*\*(.+?)\*\*/gm)].map((match) => (match[1] ?? '').toLowerCase());
  t.true(terms.length > 25);
  t.deepEqual(
    terms.filter((term) => words.has(term)),
    [],
  );
});

test('product code uses no retired word', (t) => {
  const faults = product
    .filter(({ path }) => !exempt.some((folder) => path.startsWith(folder)))
    .flatMap(({ path, text }) => [...faultsOf(path, path), ...faultsOf(path, text)]);
  t.deepEqual(faults, []);
});

test('a folder is exempt only while it has retired words', (t) => {
  const clean = exempt.filter(
    (folder) =>
      !product.some(({ path, text }) => path.startsWith(folder) && faultsOf(path, `${path}\n${text}`).length > 0),
  );
  t.deepEqual(
    clean.map((folder) => (FILES.includes(folder) ? `remove ${folder} from FILES` : `remove ${folder}${MARKER}`)),
    [],
  );
});

/** The spans in the first column of the second table: single lower-case words, and all else. */
function readRetired() {
  const table = glossary().split('## Retired words')[1] ?? '';
  const rows = table.split('\n').filter((line) => line.startsWith('| `'));
  const spans = rows.flatMap((row) =>
    [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? ''),
  );
  const single = /^[a-z]+$/;
  return {
    words: new Set(spans.filter((span) => single.test(span))),
    phrases: spans.filter((span) => !single.test(span)).map((span) => new RegExp(`(?<!\\w)${span}(?!\\w)`, 'g')),
  };
}

/** `defineFilling` has the words define and filling; each is compared on its own. */
function faultsOf(path: string, text: string): string[] {
  const faults: string[] = [];
  const add = (index: number, word: string) =>
    faults.push(`${path}:${text.slice(0, index).split('\n').length} says ${word}`);
  const own = text.replace(ALLOWED, (found) => '_'.repeat(found.length));
  for (const match of own.matchAll(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g)) {
    if (words.has(match[0].toLowerCase())) add(match.index, match[0]);
  }
  for (const phrase of phrases) for (const match of text.matchAll(phrase)) add(match.index, match[0]);
  return faults;
}

function markedFolders(): string[] {
  return execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', `*${MARKER}`], { cwd: ROOT })
    .toString()
    .split('\n')
    .filter((path) => path !== '' && existsSync(join(ROOT, path)))
    .map((path) => `${dirname(path)}/`)
    .concat(FILES.filter((path) => existsSync(join(ROOT, path))));
}

function glossary(): string {
  return readFileSync(join(ROOT, 'docs/glossary.md'), 'utf8');
}
