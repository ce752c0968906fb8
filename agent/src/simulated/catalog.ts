/** The words from which simulated machines are made. */
import type { OsType } from '#agent-protocol';

/** Makes and models that go together, with what is usual inside them. */
export interface Model {
  manufacturer: string;
  model: string;
  deviceRole: 'workstation' | 'server';
  cpuModel: string;
  cpuCores: number;
  ramGb: readonly number[];
  diskGb: readonly number[];
}

export const MODELS: Record<OsType, readonly Model[]> = {
  windows: [
    {
      manufacturer: 'Dell Inc.',
      model: 'Latitude 5440',
      deviceRole: 'workstation',
      cpuModel: 'Intel(R) Core(TM) i5-1345U',
      cpuCores: 10,
      ramGb: [8, 16],
      diskGb: [238, 476],
    },
    {
      manufacturer: 'LENOVO',
      model: 'ThinkCentre M70q Gen 4',
      deviceRole: 'workstation',
      cpuModel: 'Intel(R) Core(TM) i7-13700T',
      cpuCores: 16,
      ramGb: [16, 32],
      diskGb: [476],
    },
    {
      manufacturer: 'HPE',
      model: 'ProLiant DL360 Gen10',
      deviceRole: 'server',
      cpuModel: 'Intel(R) Xeon(R) Silver 4210R CPU @ 2.40GHz',
      cpuCores: 10,
      ramGb: [64, 128],
      diskGb: [953, 1907],
    },
  ],
  linux: [
    {
      manufacturer: 'QEMU',
      model: 'Standard PC (Q35 + ICH9, 2009)',
      deviceRole: 'server',
      cpuModel: 'AMD EPYC 7763 64-Core Processor',
      cpuCores: 4,
      ramGb: [4, 8, 16],
      diskGb: [40, 80, 160],
    },
    {
      manufacturer: 'Dell Inc.',
      model: 'PowerEdge R650',
      deviceRole: 'server',
      cpuModel: 'Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz',
      cpuCores: 32,
      ramGb: [128, 256],
      diskGb: [1907, 3814],
    },
  ],
  macos: [
    {
      manufacturer: 'Apple Inc.',
      model: 'Mac14,2',
      deviceRole: 'workstation',
      cpuModel: 'Apple M2',
      cpuCores: 8,
      ramGb: [8, 16, 24],
      diskGb: [245, 494],
    },
    {
      manufacturer: 'Apple Inc.',
      model: 'Mac15,6',
      deviceRole: 'workstation',
      cpuModel: 'Apple M3 Pro',
      cpuCores: 11,
      ramGb: [18, 36],
      diskGb: [494, 994],
    },
  ],
};

export const VERSIONS: Record<OsType, readonly (readonly [version: string, build: string])[]> = {
  windows: [
    ['Microsoft Windows 11 Pro', '10.0.22631'],
    ['Microsoft Windows 10 Pro', '10.0.19045'],
    ['Microsoft Windows Server 2022 Standard', '10.0.20348'],
  ],
  linux: [
    ['Ubuntu 24.04.1 LTS', '6.8.0-45-generic'],
    ['Debian GNU/Linux 12 (bookworm)', '6.1.0-25-amd64'],
    ['Rocky Linux 9.4 (Blue Onyx)', '5.14.0-427.el9'],
  ],
  macos: [
    ['macOS 14.6.1', '23G93'],
    ['macOS 15.0', '24A335'],
  ],
};

/** Names that fit every system, versions that vary, and who makes them. */
export const SOFTWARE: readonly (readonly [name: string, vendor: string, majors: readonly number[]])[] = [
  ['Mozilla Firefox', 'Mozilla', [128, 129, 130]],
  ['Google Chrome', 'Google LLC', [127, 128, 129]],
  ['7-Zip', 'Igor Pavlov', [22, 23, 24]],
  ['VLC media player', 'VideoLAN', [3]],
  ['Git', 'The Git Development Community', [2]],
  ['Node.js', 'OpenJS Foundation', [18, 20, 22]],
  ['Python', 'Python Software Foundation', [3]],
  ['LibreOffice', 'The Document Foundation', [7, 24]],
  ['Visual Studio Code', 'Microsoft Corporation', [1]],
  ['KeePassXC', 'KeePassXC Team', [2]],
  ['OpenSSH', 'OpenBSD', [8, 9]],
  ['Thunderbird', 'Mozilla', [115, 128]],
];

export const SERVICES: Record<OsType, readonly (readonly [name: string, title: string])[]> = {
  windows: [
    ['Spooler', 'Print Spooler'],
    ['wuauserv', 'Windows Update'],
    ['EventLog', 'Windows Event Log'],
    ['W32Time', 'Windows Time'],
    ['WinDefend', 'Microsoft Defender Antivirus Service'],
  ],
  linux: [
    ['ssh', 'OpenBSD Secure Shell server'],
    ['cron', 'Regular background program processing daemon'],
    ['nginx', 'A high performance web server'],
    ['systemd-timesyncd', 'Network Time Synchronization'],
  ],
  macos: [
    ['com.apple.mDNSResponder', 'mDNSResponder'],
    ['com.apple.Spotlight', 'Spotlight'],
    ['com.apple.cupsd', 'cupsd'],
  ],
};
