/** An invented machine: stays the same for one seed, and carries a load that wanders. */

import type { Metrics, OsType } from '#agent-protocol';
import { round } from '../collect/ask.ts';
import type { Machine } from '../machine.ts';
import { sha256Hex } from '../store/snapshot-hash.ts';
import { MODELS, SERVICES, SOFTWARE, VERSIONS } from './catalog.ts';

const unknown = async () => undefined;
/** A simulated machine has no logins, no sockets, no processes and no pending updates. */
const NOTHING = { people: unknown, connections: unknown, processes: unknown, patches: unknown };

/** Windows is what most offices run. */
const SYSTEMS: readonly OsType[] = ['windows', 'windows', 'windows', 'linux', 'linux', 'macos'];

/** A source of numbers below `limit` that gives the same row for the same seed. */
function dice(seed: string): (limit: number) => number {
  let turn = 0;
  return (limit) => {
    turn += 1;
    return Number.parseInt(sha256Hex(`${seed}/${turn}`).slice(0, 8), 16) % limit;
  };
}

interface Load {
  cpu: number;
  ram: number;
  disk: number;
  processes: number;
}

/** Moves a value by at most `step` up or down, within its limits. */
function wander(value: number, step: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value + (Math.random() - 0.5) * 2 * step));
}

/** Changes the load a little and returns it as metrics. */
function nextMetrics(load: Load, ramTotalMb: number, diskTotalGb: number): Metrics {
  load.cpu = wander(load.cpu, 8, 1, 98);
  load.ram = wander(load.ram, 2, 15, 95);
  load.disk = wander(load.disk, 0.05, 5, 97);
  load.processes = Math.round(wander(load.processes, 5, 60, 500));
  return {
    cpuPercent: round(load.cpu),
    ramPercent: round(load.ram),
    ramUsedMb: Math.round((ramTotalMb * load.ram) / 100),
    diskPercent: round(load.disk),
    diskUsedGb: round((diskTotalGb * load.disk) / 100),
    networkInBps: Math.round(Math.random() * 400_000),
    networkOutBps: Math.round(Math.random() * 150_000),
    diskReadBps: Math.round(Math.random() * 900_000),
    diskWriteBps: Math.round(Math.random() * 700_000),
    processCount: load.processes,
  };
}

/** A machine made from a seed; two machines with different seeds differ in name, serial, addresses and machine id. */
export function simulatedMachine(seed: string): Machine {
  const roll = dice(seed);
  const pick = <T>(list: readonly T[]): T => list[roll(list.length)] as T;
  const id = sha256Hex(seed);
  const osType = pick(SYSTEMS);
  const make = pick(MODELS[osType]);
  const [osVersion, osBuild] = pick(VERSIONS[osType]);
  const hostname = `${make.deviceRole === 'server' ? 'srv' : 'pc'}-${id.slice(0, 8)}`;
  const ramTotalMb = pick(make.ramGb) * 1024;
  const diskTotalGb = pick(make.diskGb);
  const mac = `02:${(id.slice(8, 18).match(/../g) ?? []).join(':')}`;
  const ip = `10.${roll(256)}.${roll(256)}.${1 + roll(254)}`;
  const software = SOFTWARE.filter(() => roll(4) > 0).map(([name, vendor, majors]) => {
    return { name, vendor, version: `${pick(majors)}.${roll(10)}.${roll(20)}` };
  });
  const startedAt = performance.now() - roll(30 * 86_400) * 1000;
  const load = { cpu: 5 + roll(30), ram: 30 + roll(40), disk: 20 + roll(60), processes: 120 + roll(200) };
  return {
    identity: async () => ({
      hostname,
      osType,
      osVersion,
      osBuild,
      architecture: osType === 'macos' ? 'arm64' : 'x64',
      machineId: sha256Hex(`machine ${id}`),
      deviceRole: make.deviceRole,
      isHeadless: osType === 'linux' && make.deviceRole === 'server',
      isVirtual: make.manufacturer === 'QEMU',
      ...(make.manufacturer === 'QEMU' && { virtualizationPlatform: 'kvm' }),
    }),
    hardware: async () => ({
      manufacturer: make.manufacturer,
      model: make.model,
      cpuModel: make.cpuModel,
      cpuCores: make.cpuCores,
      cpuThreads: osType === 'macos' ? make.cpuCores : make.cpuCores * 2,
      ramTotalMb,
      diskTotalGb,
      serialNumber: id.slice(20, 27).toUpperCase(),
      motherboardSerial: id.slice(30, 44).toUpperCase(),
      biosVersion: `1.${id.charCodeAt(50) % 20}.0`,
    }),
    network: async () => [{ name: osType === 'linux' ? 'eth0' : 'en0', mac, ipv4: [ip], ipv6: [], isPrimary: true }],
    disks: async () => {
      const usedGb = round((diskTotalGb * load.disk) / 100);
      const [mountPoint, device, fsType] =
        osType === 'windows' ? ['C:', 'C:', 'NTFS'] : ['/', '/dev/vda1', osType === 'macos' ? 'apfs' : 'ext4'];
      const freeGb = round(diskTotalGb - usedGb);
      return [{ mountPoint, device, fsType, totalGb: diskTotalGb, usedGb, freeGb, usedPercent: round(load.disk) }];
    },
    software: async () => software,
    services: async () =>
      SERVICES[osType].map(([name, displayName]) => ({ name, displayName, state: 'running', startType: 'auto' })),
    ...NOTHING,
    metrics: async () => nextMetrics(load, ramTotalMb, diskTotalGb),
    moment: async () => ({ uptimeSeconds: Math.round((performance.now() - startedAt) / 1000), pendingReboot: false }),
  };
}
