/** Archives that are larger, longer or other than they look: refused before they take memory or time. */
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { readPackage } from '../src/package/read-package.ts';

const BLOCK = 512;
/** A header of ustar, with its checksum. */
function header(name: string, size: number, type = '0'): Buffer {
  const block = Buffer.alloc(BLOCK);
  block.write(name, 0, 100, 'latin1');
  block.write('0000644\0', 100);
  block.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  block.write('        ', 148);
  block.write(type, 156);
  if (type === '1' || type === '2') block.write('plugin.json', 157);
  block.write('ustar\x0000', 257, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}
const entry = (name: string, content = '', type = '0'): Buffer => {
  const body = Buffer.alloc(Math.ceil(content.length / BLOCK) * BLOCK);
  body.write(content, 'latin1');
  return Buffer.concat([header(name, content.length, type), body]);
};
const END = Buffer.alloc(2 * BLOCK);
const archive = (...parts: Buffer[]): Buffer => gzipSync(Buffer.concat([...parts, END]));
const manifest = entry('plugin.json', '{}');

const CASES: [string, () => Buffer, RegExp][] = [
  ['a bomb of zeros', () => gzipSync(Buffer.alloc(400_000_000)), /at most \d+ bytes when unpacked/],
  [
    'bombs one behind the other',
    () => Buffer.concat(Array(10).fill(gzipSync(Buffer.alloc(20_000_000)))),
    /at most \d+ bytes/,
  ],
  [
    'a hundred thousand empty files',
    () => archive(...Array.from({ length: 100_000 }, (_, n) => header(`f${n}`, 0))),
    /at most/,
  ],
  [
    'as many folders',
    () => archive(...Array.from({ length: 30_000 }, (_, n) => header(`d${n}/`, 0, '5'))),
    /at most 2000 files/,
  ],
  [
    'a header of many megabytes',
    () => archive(entry('x', 'a'.repeat(15_000_000), 'x'), manifest),
    /header that is too long/,
  ],
  [
    'a name of many megabytes',
    () => archive(entry('x', 'a'.repeat(15_000_000), 'L'), manifest),
    /header that is too long/,
  ],
  [
    'a file that claims more than there may be',
    () => archive(header('big', 2 ** 32)),
    /at most \d+ bytes when unpacked/,
  ],
  ['a bomb in an archive', () => gzipSync(gzipSync(Buffer.alloc(400_000_000))), /packed twice/],
  ['names that differ by case', () => archive(manifest, entry('a.js'), entry('A.js')), /A.js is there twice/],
  ['something behind the end', () => Buffer.concat([archive(manifest), Buffer.from('more')]), /not a tar.gz/],
  [
    'a second archive behind the first',
    () => Buffer.concat([archive(manifest), archive(entry('b.js'))]),
    /something follows its end/,
  ],
  ['a header that changes sizes', () => archive(entry('x', '20 size=1000000\n', 'x'), manifest), /changes sizes/],
  ['a symbolic link', () => archive(manifest, header('link', 0, '2')), /files only/],
  ['a hard link', () => archive(manifest, header('link', 0, '1')), /files only/],
  ['a device', () => archive(manifest, header('device', 0, '3')), /files only/],
];
for (const [name, make, reason] of CASES) {
  test.serial(`${name}: refused, without memory or time`, async (t) => {
    const content = make();
    const [before, began] = [process.memoryUsage().rss, process.cpuUsage()];
    t.regex((await t.throwsAsync(readPackage(content))).message, reason);
    t.true(process.cpuUsage(began).user < 2_000_000, 'in microseconds');
    t.true(process.memoryUsage().rss - before < 120_000_000);
  });
}
