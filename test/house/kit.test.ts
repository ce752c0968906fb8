/** What is published to authors is small, and each name is a decision. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import * as kit from '#core/kit';
import { ROOT } from './files.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const MAX_NAMES = 90;

/** The names of the lists in braces, types included, and of `export * as name`. */
function exportedBy(source: string): string[] {
  const listed = [...source.matchAll(/export (?:type )?\{([^}]*)\}/g)].flatMap(([, names = '']) => names.split(','));
  const whole = [...source.matchAll(/export \* as (\w+)/g)].map(([, name = '']) => name);
  return [...listed.map((name) => name.trim().replace(/^type /, '')), ...whole].filter((name) => name !== '').sort();
}
/** The names in the table below the heading. */
function listedIn(readme: string, heading: string): string[] {
  const section = readme.split(`${heading}\n`)[1]?.split('\n#')[0] ?? '';
  const rows = section.split('\n').filter((line) => line.startsWith('| '));
  return rows.flatMap((row) => [...(row.split('|')[2] ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name)).sort();
}

test('the module kit exports the names in its README and no others', (t) => {
  const names = exportedBy(read('core/kit.ts'));
  t.deepEqual(names, listedIn(read('packages/module-kit/README.md'), '### Names'));
  t.true(names.length <= MAX_NAMES, `${names.length} names`);
  for (const name of Object.keys(kit)) t.true(names.includes(name), name);
});
