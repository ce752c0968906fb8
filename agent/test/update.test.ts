/** The agent brings itself to another version, with real programs and a real server of files. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { fileRecord } from '../src/update/record.ts';
import { begin, settle } from '../src/update/updater.ts';
import { compareVersions } from '../src/update/versions.ts';
import { type Change, ground, script, update } from './update-ground.ts';

test('the agent goes from version A to version B and keeps A until B has been heard', async (t) => {
  const { updater, program, record, said, asked, files, text } = await ground(t, script('2.0.0'));
  t.true(await update(updater));
  t.deepEqual(said, ['downloading', 'verifying', 'installing', 'restarting', 'restart']);
  t.is(await text(), script('2.0.0'));
  t.is(await readFile(`${program}.previous`, 'utf8'), script('1.0.0'));
  t.deepEqual(asked, [undefined], 'the token does not go to where the file lies');
  t.is(await begin(record, '2.0.0'), 'new');
  await settle(record);
  t.deepEqual(await files(), ['agent']);
  t.is(await begin(record, '2.0.0'), 'plain');
});

test('a version C that starts and never gets through goes back to the one before', async (t) => {
  const { updater, record, text } = await ground(t, script('2.0.0'));
  await update(updater);
  for (const _ of [1, 2, 3]) t.is(await begin(record, '2.0.0'), 'new');
  t.is(await begin(record, '2.0.0'), 'returned');
  t.is(await text(), script('1.0.0'));
  t.is(await begin(record, '1.0.0'), 'rolled_back', 'the server has to hear of it');
  t.is(await begin(record, '1.0.0'), 'rolled_back', 'until it has');
  await settle(record);
  t.is(await begin(record, '1.0.0'), 'plain');
});

const BAD: [string, string, string, Change][] = [
  ['does not start', 'start_failed', script('2.0.0', 1), {}],
  ['is no program', 'start_failed', '\0\x01\x02', {}],
  ['is not what was signed', 'checksum_mismatch', script('2.0.0'), { served: script('9.0.0') }],
  ['is longer than what was signed', 'checksum_mismatch', script('2.0.0'), { served: `${script('2.0.0')}more` }],
  ['breaks off', 'download_failed', script('2.0.0'), { served: '#!/bin' }],
  ['nobody answers for', 'download_failed', script('2.0.0'), { link: { url: 'http://127.0.0.1:9/' } }],
  ['a stranger signed', 'signature_invalid', script('2.0.0'), { key: generateKeyPairSync('ed25519').privateKey }],
  ['nobody signed', 'signature_invalid', script('2.0.0'), { link: { manifestSignature: '' } }],
  ['is for another machine', 'signature_invalid', script('2.0.0'), { manifest: { arch: 'arm64' } }],
  ['is another program', 'signature_invalid', script('2.0.0'), { manifest: { component: 'watchdog' } }],
  ['is another version', 'signature_invalid', script('2.0.0'), { manifest: { version: '2.0.1' } }],
  ['has expired', 'signature_invalid', script('2.0.0'), { manifest: { expiresAt: '2026-01-02T00:00:00.000Z' } }],
  ['is lower than the one that runs', 'signature_invalid', script('2.0.0'), { rules: { current: '2.0.1' } }],
  ['no key is trusted for', 'signature_invalid', script('2.0.0'), { rules: { trustKeys: [] } }],
];
for (const [what, reason, body, change] of BAD) {
  test(`a program that ${what} is refused as ${reason}, and the agent stays as it was`, async (t) => {
    const { updater, said, files, text } = await ground(t, body, change);
    t.false(await update(updater));
    t.is(said.at(-1), `failed ${reason}`);
    t.false(said.includes('restart'));
    t.is(await text(), script('1.0.0'));
    t.deepEqual(await files(), ['agent']);
  });
}

test('a lower version is installed only when told so', async (t) => {
  const { updater } = await ground(t, script('2.0.0'), { rules: { current: '2.1.0', allowDowngrade: true } });
  t.true(await update(updater));
});

test('reports that are lost end nothing', async (t) => {
  const { updater, text } = await ground(t, script('2.0.0'));
  t.true(await update({ ...updater, report: () => Promise.reject(new Error('offline')) }));
  t.is(await text(), script('2.0.0'));
});

test('a program that hangs is given up', async (t) => {
  const { updater, said } = await ground(t, '#!/bin/sh\nexec sleep 600\n');
  t.false(await update({ ...updater, trialMs: 300 }));
  t.is(said.at(-1), 'failed start_failed');
});

test('a damaged record stops no agent', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-record-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const path = join(folder, 'update.json');
  for (const text of ['', '{', '[]', '{"from":"1.0.0"}']) {
    await writeFile(path, text);
    t.is(await begin(fileRecord(path), '1.0.0'), 'plain');
  }
});

test('versions compare as versions', (t) => {
  const sorted = ['0.9.9', '1.0.0-rc.2', '1.0.0-rc.10', '1.0.0', '1.9.0', '1.10.0', '2.0.0'];
  t.deepEqual(
    sorted.toReversed().sort((a, b) => compareVersions(a, b) ?? 0),
    sorted,
  );
  t.is(compareVersions('1.0.0', '1.0.0'), 0);
  t.is(compareVersions('dev', '1.0.0'), undefined);
});
