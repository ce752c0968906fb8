/** Updates that were installed: logs of dpkg and dnf, and what Windows and macOS once said of their history. */
import { copyFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import type { Patch } from '#agent-protocol';
import { linuxInstalled, readDnfLog, readDpkgLog } from '../src/collect/linux/installed.ts';
import { parseHistory } from '../src/collect/macos/installed.ts';
import { historyOf } from '../src/collect/windows/installed.ts';
import { powershell, rows } from '../src/tools/windows/powershell.ts';
import { temporaryFolder } from './harness.ts';
import { PATIENT, recordedAsk, recording } from './recorded.ts';

const localTime = (text: string): string => new Date(text).toISOString();

test('dpkg names an update once it is installed, in the words in which it waited', (t) => {
  const found = new Map<string, Patch>();
  readDpkgLog(recording('linux-dpkg.txt'), found);
  t.deepEqual(
    [...found.values()],
    [
      {
        externalId: 'apt:libssl3@3.0.17-1~deb12u2',
        source: 'linux',
        title: 'libssl3 3.0.17-1~deb12u2',
        version: '3.0.17-1~deb12u2',
        packageId: 'libssl3',
        installedAt: localTime('2026-11-02T06:10:02'),
      },
    ],
    'not what was first installed, what did not get through, or what was removed',
  );
});

test('dnf names an update with its epoch and the moment in UTC', (t) => {
  const found = new Map<string, Patch>();
  readDnfLog(recording('linux-dnf.txt'), found);
  t.deepEqual(
    [...found.values()].map(({ externalId, installedAt }) => [externalId, installedAt]),
    [
      ['rpm:bash@5.2.26-4.el9', '2026-11-21T07:42:13.000Z'],
      ['rpm:openssl-libs@1:3.2.2-6.el9_5', '2026-11-21T06:42:14.000Z'],
    ],
  );
});

test('older logs, also packed ones, are read before newer ones', async (t) => {
  const folder = await temporaryFolder(t);
  const write = async (name: string, version: string, day: number) => {
    const text = `2026-11-0${day} 06:00:00 upgrade a:amd64 0 ${version}\n2026-11-0${day} 06:00:01 status installed a:amd64 ${version}\n`;
    await writeFile(join(folder, name), name.endsWith('.gz') ? gzipSync(text) : text);
    await utimes(join(folder, name), day, day);
  };
  await write('dpkg.log', '3', 3);
  await write('dpkg.log.1', '2', 2);
  await write('dpkg.log.2.gz', '1', 1);
  t.deepEqual(
    (await linuxInstalled(folder)).map(({ version }) => version),
    ['3'],
  );
  const packed = await temporaryFolder(t);
  await copyFile(join(folder, 'dpkg.log.2.gz'), join(packed, 'dpkg.log.2.gz'));
  await writeFile(join(packed, 'dpkg.log.3.gz'), 'damaged');
  t.deepEqual(
    (await linuxInstalled(packed)).map(({ version }) => version),
    ['1'],
  );
  t.deepEqual(await linuxInstalled('/nowhere'), []);
});

test('the history of Windows has each update once, with the number of its article', async (t) => {
  const { ask } = recordedAsk(() => recording('windows/update-history.json'));
  const found = historyOf(rows(await powershell(ask, '', { about: 'history', signal: PATIENT })));
  t.deepEqual(
    found.map(({ externalId, version, installedAt }) => [externalId, version, installedAt]),
    [
      ['5f2a-1', 'KB5044285', '2026-10-14T18:02:11.000Z'],
      ['d0-7', 'KB2267602', '2026-10-12T06:00:00.000Z'],
      ['5f2a-9', undefined, undefined],
    ],
  );
});

test('of the history of macOS what Apple installed counts, the newest of each name', (t) => {
  const found = parseHistory(recording('macos/install-history.json'));
  t.deepEqual(
    found.map(({ externalId, installedAt }) => [externalId, installedAt]),
    [
      ['macOS 15.3@15.3', '2026-10-01T08:11:12.000Z'],
      ['XProtectPlistConfigData@5287', '2026-10-02T08:11:12.000Z'],
    ],
  );
  t.deepEqual(parseHistory(undefined), []);
});
