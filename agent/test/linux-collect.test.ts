/** Reading what Linux says of pending packages, of people who are logged in, and of the packages of Alpine. */
import test from 'ava';
import { fromUpdates, linuxPatches, parseApk, parseApt, parseDnf, parseZypper } from '../src/collect/patches.ts';
import { parseLogins } from '../src/collect/people.ts';
import { parseApkDatabase } from '../src/collect/software.ts';
import { ToolError } from '../src/tools/contract.ts';
import type { Ask } from '../src/tools/linux/ask.ts';
import { never, recordings } from './recordings.ts';

const APT = `Reading package lists...
Building dependency tree...
124 upgraded, 1 newly installed, 0 to remove and 0 not upgraded.
Inst base-files [12.4+deb12u11] (12.4+deb12u15 Debian:12.15/oldstable [amd64])
Inst libgcrypt20-dev [1.10.1-3] (1.10.1-3+deb12u1 Debian:12.15/oldstable, Debian-Security:12/oldstable-security [amd64]) []
Inst linux-image-6.1.0-40-amd64 (6.1.153-1 Debian-Security:12/oldstable-security [amd64])
Inst libcap2 [1:2.66-4+deb12u2+b2] (1:2.66-4+deb12u3+b1 Debian:12.15/oldstable [amd64]) []
Conf base-files (12.4+deb12u15 Debian:12.15/oldstable [amd64])
`;

test('apt’s rehearsal becomes pending packages, with those of the security archive marked', (t) => {
  t.deepEqual(parseApt(APT), [
    {
      externalId: 'apt:base-files@12.4+deb12u15',
      source: 'linux',
      title: 'base-files 12.4+deb12u15',
      version: '12.4+deb12u15',
      packageId: 'base-files',
    },
    {
      externalId: 'apt:libgcrypt20-dev@1.10.1-3+deb12u1',
      source: 'linux',
      title: 'libgcrypt20-dev 1.10.1-3+deb12u1',
      category: 'security',
      version: '1.10.1-3+deb12u1',
      packageId: 'libgcrypt20-dev',
    },
    {
      externalId: 'apt:libcap2@1:2.66-4+deb12u3+b1',
      source: 'linux',
      title: 'libcap2 1:2.66-4+deb12u3+b1',
      version: '1:2.66-4+deb12u3+b1',
      packageId: 'libcap2',
    },
  ]);
});

test('the lists of dnf, zypper and apk become pending packages', (t) => {
  const dnf = `
bash.x86_64                      5.1.8-9.el9                baseos
python3-a-very-long-package-name.noarch
                                 3:1.2-3.el9                appstream
openssl.x86_64                   1:3.0.7-27.el9             baseos-security
Obsoleting Packages
grub2-tools.x86_64               1:2.06-80.el9              baseos
    grub2-tools.x86_64           1:2.06-70.el9              @baseos
`;
  t.deepEqual(
    parseDnf(dnf).map(({ packageId, version, category }) => [packageId, version, category]),
    [
      ['bash', '5.1.8-9.el9', undefined],
      ['python3-a-very-long-package-name', '3:1.2-3.el9', undefined],
      ['openssl', '1:3.0.7-27.el9', 'security'],
    ],
  );
  const zypper = `<?xml version='1.0'?>
<stream>
<message type="info">Loading repository data...</message>
<update-status version="0.6">
<update-list>
<update name="curl" edition="8.0.1-150400.5.44.1" arch="x86_64" kind="package" edition-old="8.0.1-150400.5.41.1"><summary>A Tool</summary></update>
</update-list>
</update-status>
</stream>`;
  t.deepEqual(
    parseZypper(zypper).map(({ externalId }) => externalId),
    ['rpm:curl@8.0.1-150400.5.44.1'],
  );
  const apk =
    'Installed:                                Available:\nbusybox-1.36.1-r5                       < 1.36.1-r7\nlib-x11-1.8-r0 < 1.9-r0\n';
  t.deepEqual(
    parseApk(apk).map(({ packageId, version }) => [packageId, version]),
    [
      ['busybox', '1.36.1-r7'],
      ['lib-x11', '1.9-r0'],
    ],
  );
});

test('the package manager that is installed is asked, and a list that failed is none', async (t) => {
  const only =
    (program: string, ask: Ask): Ask =>
    (wanted, args, options) => {
      if (wanted !== program) throw new ToolError('UNSUPPORTED', 'not here');
      return ask(wanted, args, options);
    };
  const dnf = recordings([[/^dnf --quiet check-update$/, { code: 100, stdout: 'bash.x86_64 5.2 baseos\n' }]]);
  t.is((await linuxPatches(only('dnf', dnf.ask), never))?.length, 1);
  const broken = recordings([[/^apt-get/, { code: 100, stderr: 'E: broken' }]]);
  t.is(await linuxPatches(only('apt-get', broken.ask), never), undefined);
  t.is(await linuxPatches(only('pacman', broken.ask), never), undefined);
  t.regex(broken.calls[0] ?? '', /^apt-get --simulate /);
});

test('updates that the maker names keep its names, and a search that failed says nothing', async (t) => {
  const update = { id: 'KB1', title: 'One', version: null, severity: 'critical', sizeBytes: 7, rebootRequired: true };
  t.deepEqual(await fromUpdates('microsoft', [{ ...update, kind: 'security' }], async () => []), {
    source: 'microsoft',
    installed: [],
    pending: [
      {
        externalId: 'KB1',
        source: 'microsoft',
        title: 'One',
        severity: 'critical',
        category: 'security',
        packageId: 'KB1',
        requiresReboot: true,
      },
    ],
  });
  t.is(await fromUpdates('apple', undefined, async () => t.fail() as never), undefined);
});

test('people are listed with where they sit, since when, and for how long they did nothing', (t) => {
  const text = `anna     pts/0        2026-11-21 13:27   .           812 (10.0.0.5)
root     tty1         2024-05-01 00:00  old          813
bob      :0           2024-05-01 00:00   ?             1 (:0)
eve      pts/3        2026-11-21 08:01 01:12        4711
`;
  t.deepEqual(parseLogins(text), [
    {
      username: 'anna',
      type: 'remote',
      state: 'active',
      startedAt: '2026-11-21T13:27:00.000Z',
      idleSeconds: 0,
      from: '10.0.0.5',
    },
    { username: 'root', type: 'console', state: 'idle', startedAt: '2024-05-01T00:00:00.000Z', idleSeconds: 86_400 },
    { username: 'bob', type: 'graphical', state: 'active', startedAt: '2024-05-01T00:00:00.000Z' },
    { username: 'eve', type: 'terminal', state: 'idle', startedAt: '2026-11-21T08:01:00.000Z', idleSeconds: 4_320 },
  ]);
  t.deepEqual(parseLogins(''), []);
});

test('the database of apk becomes installed packages', (t) => {
  const text =
    'C:Q1x=\nP:musl\nV:1.2.4-r2\nA:x86_64\nm:Timo <t@example.org>\n\nP:busybox\nV:1.36.1-r5\nF:bin\nR:busybox\n\n';
  t.deepEqual(parseApkDatabase(text), [
    { name: 'musl', version: '1.2.4-r2', vendor: 'Timo' },
    { name: 'busybox', version: '1.36.1-r5' },
  ]);
});
