/** Reading what operating systems print. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { canonicalJson } from '#agent-protocol';
import { isHeadlessLinux } from '../src/collect/desktop.ts';
import { parseMacMounts, parseMounts } from '../src/collect/disks.ts';
import { parseCpuInfo, parseLspci } from '../src/collect/hardware.ts';
import { architectureOf, parseOsRelease } from '../src/collect/identity.ts';
import { parseDiskStats, parseNetDev, parseStat, ratesBetween } from '../src/collect/metrics.ts';
import { adaptersOf, parseRoutes } from '../src/collect/network.ts';
import { parseSystemd } from '../src/collect/services.ts';
import { distinct, parseDpkg, parseRpm } from '../src/collect/software.ts';
import { heartbeatBuilder } from '../src/heartbeat.ts';
import { realMachine } from '../src/machine.ts';
import { simulatedMachine } from '../src/simulated/machine.ts';
import { withSnapshotHash } from '../src/store/snapshot-hash.ts';
import { temporaryFolder } from './harness.ts';

test('dpkg output becomes installed packages with vendor and date', (t) => {
  const text = [
    'installed\tbash\t5.2.15-2+b7\tamd64\tMatthias Klose <doko@debian.org>',
    'config-files\told\t1.0\tamd64\tNobody <n@example.org>',
    'installed\tlibc6\t2.36-9\tamd64\tGNU Libc Maintainers <g@example.org>',
    'installed\tlibc6\t2.36-9\ti386\tGNU Libc Maintainers <g@example.org>',
    '',
  ].join('\n');
  const list = distinct(
    parseDpkg(
      text,
      new Map([
        ['libc6:i386', '2024-05-01'],
        ['bash', '2024-04-01'],
      ]),
    ),
  );
  t.deepEqual(list, [
    { name: 'bash', version: '5.2.15-2+b7', vendor: 'Matthias Klose', installDate: '2024-04-01' },
    { name: 'libc6', version: '2.36-9', vendor: 'GNU Libc Maintainers', installDate: '2024-05-01' },
  ]);
});

test('rpm output becomes packages, without the keys rpm keeps among them', (t) => {
  t.deepEqual(parseRpm('gpg-pubkey\t1-2\t(none)\t1\nzlib\t1.2.11-40.el9\tRocky Enterprise\t1714521600\n'), [
    { name: 'zlib', version: '1.2.11-40.el9', vendor: 'Rocky Enterprise', installDate: '2024-05-01' },
  ]);
});

test('the load of the processor is the busy share between two readings of /proc/stat', (t) => {
  const before = parseStat('cpu  100 0 100 700 100 0 0 0 50 0\ncpu0 1 2 3 4\n');
  const after = parseStat('cpu  150 0 125 750 175 0 0 0 90 0\n');
  t.deepEqual(before, { busy: 200, total: 1000 });
  t.is(ratesBetween({ at: 0, cpu: before }, { at: 1000, cpu: after }).cpuPercent, 37.5);
  t.is(parseStat('nothing'), undefined);
});

test('rates are bytes per second, and a counter that starts over gives none', (t) => {
  const network = parseNetDev('    lo: 9 0 0 0 0 0 0 0 9 0\n  eth0:1000 1 0 0 0 0 0 0 500 1 0 0\n');
  t.deepEqual(network, { in: 1000, out: 500 });
  const disk = parseDiskStats(
    ' 8 0 sda 1 0 10 0 1 0 20 0\n 8 1 sda1 1 0 10 0 1 0 20 0\n 7 0 loop0 1 0 99 0 1 0 99 0\n',
  );
  t.deepEqual(disk, { read: 5120, written: 10240 });
  const rates = ratesBetween(
    { at: 0, network, disk: { read: 9e9, written: 0 } },
    { at: 2000, network: { in: 3000, out: 600 }, disk },
  );
  t.like(rates, { networkInBps: 1000, networkOutBps: 50, diskReadBps: 0, diskWriteBps: 5120 });
});

test('cores are counted by socket and core, and a graphics adapter is named', (t) => {
  const block = (socket: number, core: number): string =>
    `model name\t: Some CPU\nphysical id\t: ${socket}\ncore id\t: ${core}\n`;
  const info = parseCpuInfo([block(0, 0), block(0, 0), block(0, 1), block(1, 0)].join('\n'));
  t.deepEqual(info, { cpuModel: 'Some CPU', cpuCores: 3 });
  t.is(parseLspci('00:02.0 "VGA compatible controller" "Intel" "UHD 620" -r02 "Dell" "x"'), 'Intel UHD 620');
});

test('local mounts are listed once per device, with their spaces', (t) => {
  const mounts = parseMounts(
    [
      'proc /proc proc rw 0 0',
      '/dev/vda1 / ext4 rw 0 0',
      '/dev/vda1 /var/lib/bind ext4 rw 0 0',
      '/dev/sdb1 /mnt/my\\040disk xfs rw 0 0',
      'server:/x /net nfs4 rw 0 0',
      '/dev/loop3 /snap/x ext4 ro 0 0',
      'overlay /var/lib/docker/overlay2/x overlay rw 0 0',
    ].join('\n'),
  );
  t.deepEqual(
    mounts.map(({ mountPoint }) => mountPoint),
    ['/', '/mnt/my disk'],
  );
  const mac = '/dev/disk3s1s1 on / (apfs, sealed, local)\n/dev/disk3s6 on /System/Volumes/VM (apfs, local)\n';
  t.deepEqual(parseMacMounts(mac), [{ device: '/dev/disk3s1s1', mountPoint: '/', fsType: 'apfs' }]);
});

test('systemd units are joined with how they start', (t) => {
  const units = [
    'ssh.service          loaded    active   running OpenBSD Secure Shell server',
    'broken.service       loaded    failed   failed  broken.service',
    'absent.service       not-found inactive dead    absent.service',
    'masked.service       masked    inactive dead    masked.service',
  ].join('\n');
  const files = 'ssh.service enabled enabled\nbroken.service disabled enabled\nmasked.service masked enabled';
  t.deepEqual(parseSystemd(units, files), [
    { name: 'ssh', displayName: 'OpenBSD Secure Shell server', state: 'running', startType: 'auto' },
    { name: 'broken', state: 'stopped', startType: 'manual' },
    { name: 'masked', state: 'stopped', startType: 'disabled' },
  ]);
});

test('adapters carry their addresses, and the default route names the primary one', (t) => {
  const address = (value: string, family: 'IPv4' | 'IPv6', mac: string, internal = false) =>
    ({ address: value, family, mac, internal, netmask: '', cidr: null, scopeid: 0 }) as never;
  const interfaces = {
    lo: [address('127.0.0.1', 'IPv4', '00:00:00:00:00:00', true)],
    eth0: [address('10.0.0.2', 'IPv4', 'aa:aa:aa:aa:aa:aa'), address('fe80::1', 'IPv6', 'aa:aa:aa:aa:aa:aa')],
    tun0: [address('10.8.0.2', 'IPv4', '00:00:00:00:00:00')],
  };
  const routes =
    'Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\ntun0\t00000000\t01\t3\t0\t0\t0\t00000000\n';
  t.deepEqual(adaptersOf(interfaces, parseRoutes(routes)), [
    { name: 'eth0', mac: 'aa:aa:aa:aa:aa:aa', ipv4: ['10.0.0.2'], ipv6: ['fe80::1'], isPrimary: false },
    { name: 'tun0', ipv4: ['10.8.0.2'], ipv6: [], isPrimary: true },
  ]);
  t.true(adaptersOf(interfaces, undefined)[0]?.isPrimary);
});

test('a heartbeat names the addresses when they have changed, and whether there is a desktop', async (t) => {
  let addresses = ['10.0.0.2', '10.0.0.1'];
  const machine = simulatedMachine('a');
  const [adapter] = await machine.network();
  const build = heartbeatBuilder(
    {
      ...machine,
      identity: async () => ({ ...(await machine.identity()), isHeadless: true }),
      network: async () => [{ name: 'eth0', isPrimary: true, ...adapter, ipv4: addresses, ipv6: [] }],
    },
    { powerCommands: true, status: () => 'warning', metrics: async () => undefined },
  );
  t.like(await build(true), {
    status: 'warning',
    isHeadless: true,
    ipHistoryUpdate: { currentIPs: ['10.0.0.1', '10.0.0.2'] },
  });
  addresses = addresses.toReversed();
  t.is((await build(true)).ipHistoryUpdate, undefined);
  addresses = ['10.0.0.3'];
  t.deepEqual((await build(true)).ipHistoryUpdate, { currentIPs: ['10.0.0.3'] });
});

test('a Linux machine is headless without desktops, login screen and X servers', async (t) => {
  const root = await temporaryFolder(t);
  t.true(await isHeadlessLinux(root));
  await mkdir(join(root, 'usr/share/xsessions'), { recursive: true });
  await mkdir(join(root, 'etc/systemd/system'), { recursive: true });
  await mkdir(join(root, 'tmp/.X11-unix'), { recursive: true });
  t.true(await isHeadlessLinux(root));
  for (const path of [
    'usr/share/xsessions/gnome.desktop',
    'etc/systemd/system/display-manager.service',
    'tmp/.X11-unix/X0',
  ]) {
    await writeFile(join(root, path), '');
    t.false(await isHeadlessLinux(root), path);
    await rm(join(root, path));
  }
});

test('the system is named in the words of the protocol', (t) => {
  t.is(
    parseOsRelease('NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n'),
    'Debian GNU/Linux 12 (bookworm)',
  );
  t.is(architectureOf('ia32'), 'x86');
  t.throws(() => architectureOf('riscv64'), { message: /does not run on riscv64/ });
});

test('a snapshot has the same hash whatever the order of its members', (t) => {
  t.is(canonicalJson({ b: [1, { d: 'x', c: undefined }], a: null }), '{"a":null,"b":[1,{"d":"x"}]}');
  t.is(withSnapshotHash({ a: 1, b: 2 }).snapshotHash, withSnapshotHash({ b: 2, a: 1 }).snapshotHash);
  t.not(withSnapshotHash({ a: 1 }).snapshotHash, withSnapshotHash({ a: 2 }).snapshotHash);
});

test('the machine the test runs on describes itself', async (t) => {
  const machine = realMachine();
  const [identity, hardware, metrics] = await Promise.all([machine.identity(), machine.hardware(), machine.metrics()]);
  t.true(identity.hostname.length > 0);
  t.true((hardware.ramTotalMb ?? 0) > 0);
  t.true((hardware.cpuThreads ?? 0) > 0);
  for (const share of [metrics.cpuPercent, metrics.ramPercent, metrics.diskPercent]) {
    t.true(share !== undefined && share >= 0 && share <= 100);
  }
  t.true((metrics.processCount ?? 0) > 0);
});
