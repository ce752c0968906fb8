/** What a comment or a README cites is in this repository. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'ava';
import { ROOT } from './files.ts';

interface Text {
  path: string;
  line: number;
  text: string;
}

const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
  .toString()
  .split('\n')
  .filter((path) => path !== '' && existsSync(join(ROOT, path)));
const names = new Set(listed.flatMap((path) => [path, ...foldersOf(path)]));
const GENERATED = /^(client\/src\/(schema|keyed-operations)\.ts|migrations\/schema\.sql|package-lock\.json)$/;
/** The top of a path that can only mean this repository. */
const TOP = /^(core|modules|migrations|config|docs|packages|workers|agent|app|ops|console|test)\//;
const FILE = /\w\/[\w.-]+\.(ts|mjs|sql|md|json|ya?ml)$/;
/** Of the form of a path, and something else: a job, a file that the reader makes, a module that may come. */
const OTHER = ['core/tick', 'src/routes/greetings.ts', 'test/hello.test.ts', 'modules/messages/alerts'];
/** Files that a running platform or its operator makes; READMEs name them with a path of the repository's form. */
const MADE = /^(packages\/[\w-]+\/(out|dist)|console\/dist)\b/;
/** Standards whose parts are cited by number. */
const STANDARD = /RFC \d+|WebAuthn|OpenID|OWASP|ISO|NIST/;

const comments = listed.filter((path) => !GENERATED.test(path)).flatMap(commentsOf);

test('no comment or README cites a document that is not in the repository', (t) => {
  const faults = comments.filter(
    ({ text }) =>
      /(^|[\s("'`])(spec|domain)\/[a-z0-9-]+/.test(text) ||
      /\bthe (spec|specification)('s)?\b/.test(text) ||
      (/§|\bsections? \d/i.test(text) && !STANDARD.test(text)),
  );
  t.deepEqual(faults.map(shown), []);
});

test('a path of this repository that a comment or README names is there', (t) => {
  const faults = comments.flatMap((one) =>
    pathsIn(one.text)
      .filter((cited) => !isThere(cited, one.path))
      .map((cited) => `${one.path}:${one.line} names ${cited}`),
  );
  t.deepEqual(faults, []);
});

test('links between the documents lead somewhere', (t) => {
  const faults = comments
    .filter(({ path }) => path.endsWith('.md'))
    .flatMap(({ path, line, text }) =>
      [...text.matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g)]
        .filter(([, target = '']) => !existsSync(join(ROOT, dirname(path), target)))
        .map(([, target]) => `${path}:${line} links to ${target}`),
    );
  t.deepEqual(faults, []);
});

const shown = ({ path, line, text }: Text) => `${path}:${line}: ${text.trim()}`;

/** Paths from the root, in backticks or parentheses, and in backticks all that end like a file. */
function pathsIn(text: string): string[] {
  const quoted = [...text.matchAll(/`([^`\s]+)`/g)].map((match) => match[1] ?? '');
  const bracketed = [...text.matchAll(/\(([\w./-]+)[,;:)\s]/g)].map((match) => match[1] ?? '');
  return [...quoted, ...bracketed].filter(
    (path) =>
      (TOP.test(path) || FILE.test(path)) &&
      /^[\w./-]+$/.test(path) &&
      !MADE.test(path) &&
      !/^\/|\.\.|^[A-Z_]+\//.test(path),
  );
}

/** A relative path stands for any file that ends so. */
function isThere(cited: string, from: string): boolean {
  const plain = cited.replace(/^\.\//, '').replace(/[./]+$/, '');
  if (OTHER.includes(plain)) return true;
  const own = foldersOf(from).map((folder) => `${folder}/${plain}`);
  if ([plain, ...own].some((path) => names.has(path) || names.has(`${path}.ts`))) return true;
  return FILE.test(plain) && listed.some((path) => path.endsWith(`/${plain}`));
}

function foldersOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** The comment lines of a source file, and every line of a document. */
function commentsOf(path: string): Text[] {
  const comment = /\.(ts|mjs|js)$/.test(path)
    ? /^\s*(\/\*\*?|\*|\/\/)|\s\/\/ /
    : /\.sql$/.test(path)
      ? /--/
      : /\.ya?ml$|^\.ci\//.test(path)
        ? /#/
        : /\.md$/.test(path)
          ? /./
          : null;
  if (!comment) return [];
  const lines = readFileSync(join(ROOT, path), 'utf8').split('\n');
  return lines.map((text, index) => ({ path, line: index + 1, text })).filter(({ text }) => comment.test(text));
}
