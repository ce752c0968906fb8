/** The inventory and load of macOS, out of what its programs once printed. */
import test from 'ava';
import { parseBlockStorage, parseNetstat, parseVmStat } from '../src/collect/macos/load.ts';
import { servicesOf } from '../src/collect/macos/services.ts';
import { parseApplications } from '../src/collect/macos/software.ts';
import { parseDiskSize, parseHardware, parsePlatformUuid, parseWho } from '../src/collect/macos/system.ts';
import { parseUpdates } from '../src/collect/macos/updates.ts';
import { recording } from './recorded.ts';

const mac = (name: string): string => recording(`macos/${name}`);

test('a Mac is described by system_profiler, diskutil and ioreg', (t) => {
  t.deepEqual(parseHardware(mac('profiler.json')), {
    cpuModel: 'Apple M1 Pro',
    serialNumber: 'C02XK0AAJGH5',
    model: 'MacBookPro18,3',
    biosVersion: '11881.81.2',
    gpuModel: 'Apple M1 Pro',
  });
  t.is(parseHardware(undefined).serialNumber, undefined);
  t.is(parseDiskSize(mac('diskutil.txt')), 460.43);
  t.is(parsePlatformUuid(mac('platform-expert.txt')), '3F2504E0-4F89-11D3-9A0C-0305E82C3301');
});

test('who sits at the screen goes before who came over the network', (t) => {
  t.deepEqual(parseWho(mac('who.txt')), ['anna', 'jürgen']);
  t.deepEqual(parseWho(''), []);
});

test('applications of macOS carry the maker that signed them', (t) => {
  t.deepEqual(parseApplications(mac('applications.json')), [
    {
      name: 'Firefox',
      version: '132.0.2',
      vendor: 'Mozilla Corporation (43AQ936H96)',
      installDate: '2026-11-19',
      installLocation: '/Applications/Firefox.app',
    },
    { name: 'Safari', version: '18.3', vendor: 'Apple', installLocation: '/Applications/Safari.app' },
    { name: 'Bäckereikasse', version: '', installLocation: '/Applications/Bäckereikasse.app' },
  ]);
  t.is(parseApplications('system_profiler: no such data type'), undefined);
});

test('jobs of launchd are services, and the disabled ones say so', (t) => {
  const services = servicesOf(
    mac('launchctl-list.txt').replace('com.example.broken', 'com.apple.ftpd'),
    mac('launchctl-print-disabled.txt'),
  );
  t.deepEqual(services?.slice(2, 4), [
    { name: 'quartermaster.agent', state: 'running' },
    { name: 'com.apple.ftpd', state: 'stopped', startType: 'disabled' },
  ]);
  t.is(servicesOf('', ''), undefined);
});

test('updates of macOS are read in the form of today and in the one before', (t) => {
  t.deepEqual(parseUpdates(mac('softwareupdate.txt')), [
    {
      id: 'macOS Sequoia 15.3.1-24D70',
      title: 'macOS Sequoia 15.3.1',
      version: '15.3.1',
      kind: 'other',
      severity: 'recommended',
      sizeBytes: 3284512 * 1024,
      rebootRequired: true,
    },
    {
      id: 'XProtectPlistConfigData_10_15-5284',
      title: 'XProtectPlistConfigData',
      version: '5284',
      kind: 'security',
      severity: 'recommended',
      sizeBytes: 789 * 1024,
      rebootRequired: false,
    },
    {
      id: 'Command Line Tools for Xcode-16.2',
      title: 'Command Line Tools for Xcode',
      version: '16.2',
      kind: 'other',
      severity: null,
      sizeBytes: 750872 * 1024,
      rebootRequired: false,
    },
  ]);
  t.deepEqual(
    parseUpdates(mac('softwareupdate-old.txt')).map(({ id, title, version, kind, sizeBytes, rebootRequired }) => [
      id,
      title,
      version,
      kind,
      sizeBytes,
      rebootRequired,
    ]),
    [
      ['macOS 10.14.6 Update-', 'macOS 10.14.6 Update', null, 'other', 2570000 * 1024, true],
      ['Security Update 2021-005-10.14.6', 'Security Update 2021-005', '10.14.6', 'security', 1731456 * 1024, true],
      ['iTunesXPatch-12.9.5', 'iTunes', '12.9.5', 'other', 268932 * 1024, false],
    ],
  );
  t.deepEqual(parseUpdates(mac('softwareupdate-none.txt')), []);
});

test('memory that caches hold counts as available', (t) => {
  t.is(parseVmStat(mac('vm_stat.txt')), (10213 + 238651 + 2514) * 16384);
  t.is(parseVmStat('nothing'), undefined);
});

test('netstat of macOS is counted once per adapter, with or without a hardware address', (t) => {
  t.deepEqual(parseNetstat(mac('netstat.txt')), { in: 2050, out: 360 });
});

test('bytes of all disks are summed', (t) => {
  t.deepEqual(parseBlockStorage(mac('block-storage.txt')), { read: 98765432200, written: 45678901400 });
});
