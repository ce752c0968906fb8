/** The parts of building the agent: which machine a program is for, and the signature without which macOS starts none. */
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { signAdHoc } from '../build/ad-hoc-signature.ts';
import { bundle } from '../build/executable.ts';
import { formatOf } from '../build/program-format.ts';
import { buildRelease } from '../build/releases.ts';
import { programName, TARGETS } from '../build/targets.ts';

test('a program tells by its first bytes which machine it is for', async (t) => {
  const head = (write: (bytes: Buffer) => void) => {
    const bytes = Buffer.alloc(1024);
    write(bytes);
    return bytes;
  };
  const elf = (machine: number) =>
    head((bytes) => {
      bytes.writeUInt32BE(0x7f454c46, 0);
      bytes.writeUInt16LE(machine, 18);
    });
  t.is(formatOf(elf(62)), 'linux-amd64');
  t.is(formatOf(elf(183)), 'linux-arm64');
  t.is(formatOf(elf(8)), undefined);
  const pe = head((bytes) => {
    bytes.write('MZ');
    bytes.writeUInt32LE(128, 60);
    bytes.write('PE\0\0', 128, 'latin1');
    bytes.writeUInt16LE(0x8664, 132);
  });
  t.is(formatOf(pe), 'windows-amd64');
  t.is(formatOf(head((bytes) => bytes.write('#!/bin/sh'))), undefined);
  t.is(formatOf(Buffer.alloc(3)), undefined);
  const here = await readFile(process.execPath).then((bytes) => formatOf(bytes.subarray(0, 1024)));
  t.regex(here ?? '', /^(linux|macos|windows)-(amd64|arm64)$/);
});

/** A Mach-O of one load command for each of the two segments that matter, with room for a third. */
function machO(): Buffer {
  const bytes = Buffer.alloc(10_000, 7);
  bytes.fill(0, 0, 4096);
  for (const [index, word] of [0xfeedfacf, 0x0100000c, 0, 2, 2, 144].entries()) bytes.writeUInt32LE(word, index * 4);
  for (const [at, name, offset, size] of [
    [32, '__TEXT', 0, 8192],
    [104, '__LINKEDIT', 8192, 1808],
  ] as const) {
    bytes.writeUInt32LE(0x19, at);
    bytes.writeUInt32LE(72, at + 4);
    bytes.write(name, at + 8, 'latin1');
    bytes.writeBigUInt64LE(BigInt(offset), at + 40);
    bytes.writeBigUInt64LE(BigInt(size), at + 48);
  }
  return bytes;
}

test('an ad-hoc signature holds the hash of each page, and is named by a load command', (t) => {
  const signed = signAdHoc(machO(), 'an-agent');
  t.is(signed.readUInt32LE(16), 3, 'one more load command');
  const [kind, length, offset, size] = [0, 4, 8, 12].map((at) => signed.readUInt32LE(176 + at)) as [
    ...[number, number, number, number],
  ];
  t.deepEqual([kind, length, offset + size], [0x1d, 16, signed.length]);
  t.is(Number(signed.readBigUInt64LE(104 + 48)), signed.length - 8192, 'the last segment ends with the file');
  t.is(signed.readUInt32BE(offset), 0xfade0cc0);
  const directory = offset + signed.readUInt32BE(offset + 16);
  t.is(signed.readUInt32BE(directory), 0xfade0c02);
  t.is(signed.readUInt32BE(directory + 12), 2, 'ad hoc');
  const name = directory + signed.readUInt32BE(directory + 20);
  t.is(signed.toString('latin1', name, name + 9), 'an-agent\0');
  const pages = signed.readUInt32BE(directory + 28);
  t.is(pages, Math.ceil(offset / 4096));
  const hashes = directory + signed.readUInt32BE(directory + 16);
  for (let page = 0; page < pages; page++) {
    const piece = signed.subarray(page * 4096, Math.min((page + 1) * 4096, offset));
    const hash = signed.subarray(hashes + page * 32, hashes + page * 32 + 32);
    t.deepEqual(hash, createHash('sha256').update(piece).digest(), `page ${page}`);
  }
  t.throws(() => signAdHoc(signed, 'an-agent'), { message: /signed already/ });
  t.throws(() => signAdHoc(Buffer.from('MZ'.repeat(50)), 'x'), { message: /no 64-bit Mach-O/ });
});

test('the code is one file that knows its version and looks for no other', async (t) => {
  const code = await bundle(join(import.meta.dirname, '../src/main.ts'), '9.8.7');
  t.true(code.includes('9.8.7'));
  t.false(code.includes('dev-source'));
  t.notRegex(code, /require\("\.{1,2}\//);
});

test('a machine that there is no Node for is named, and the others are built all the same', async (t) => {
  const out = await mkdtemp(join(tmpdir(), 'agent-release-'));
  t.teardown(() => rm(out, { recursive: true }));
  const entry = join(out, 'entry.ts');
  await writeFile(entry, 'console.log(1);\n');
  const nowhere = { name: 'plan9-x64', platform: 'linux', arch: 'amd64', package: '../nothing', file: 'node' } as const;
  const { built, failed } = await buildRelease({
    ...{
      version: '1.0.0',
      targets: [nowhere],
      out,
      cache: join(out, 'cache'),
      entry,
      notes: 'Better',
      log: () => undefined,
    },
  });
  t.deepEqual(built, []);
  t.regex(failed[0] ?? '', /^plan9-x64: no Node .* could not be fetched/);
  t.deepEqual((await readdir(out)).sort(), ['cache', 'checksums.txt', 'entry.ts', 'release-notes.md']);
});

test('programs are named as releases want them', (t) => {
  const names = TARGETS.flatMap((target) => [programName('agent', target), programName('watchdog', target)]);
  t.deepEqual(
    names.filter((name) => name.startsWith('agent')),
    [...['agent-linux-amd64', 'agent-linux-arm64', 'agent-windows-amd64.exe', 'agent-macos-arm64']],
  );
  t.is(new Set(names).size, 8);
});
