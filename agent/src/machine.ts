/** What the agent wants to know of the machine it runs on, and the real machine that answers. */
import { access } from 'node:fs/promises';
import os from 'node:os';
import type {
  Connection,
  DiskUsage,
  HardwareInfo,
  LoginSession,
  Metrics,
  NetworkAdapter,
  ProcessSample,
  ServiceItem,
  SoftwareItem,
} from '#agent-protocol';
import { outputOf } from './collect/ask.ts';
import { collectConnections } from './collect/connections.ts';
import { collectDisks } from './collect/disks.ts';
import { collectHardware } from './collect/hardware.ts';
import { collectIdentity, type Identity } from './collect/identity.ts';
import { parseWho } from './collect/macos/system.ts';
import { metricsSampler } from './collect/metrics.ts';
import { collectNetwork } from './collect/network.ts';
import { collectPatches, type FoundPatches } from './collect/patches.ts';
import { collectPeople } from './collect/people.ts';
import { collectProcesses } from './collect/processes.ts';
import { collectServices } from './collect/services.ts';
import { collectSoftware } from './collect/software.ts';
import { windowsMoment } from './collect/windows/system.ts';

/** A machine; lists that it cannot give are undefined, which is not the same as empty. */
export interface Machine {
  identity(): Promise<Identity>;
  hardware(): Promise<HardwareInfo>;
  network(): Promise<NetworkAdapter[]>;
  disks(): Promise<DiskUsage[]>;
  software(): Promise<SoftwareItem[] | undefined>;
  services(): Promise<ServiceItem[] | undefined>;
  /** Who is logged in. */
  people(): Promise<LoginSession[] | undefined>;
  /** Open connections and ports that programs listen on; established ones first. */
  connections(): Promise<Connection[] | undefined>;
  /** The running processes, the busiest first. */
  processes(): Promise<ProcessSample[] | undefined>;
  /** Updates that wait, and those that were installed. */
  patches(): Promise<FoundPatches | undefined>;
  /** Load since the previous call. */
  metrics(): Promise<Metrics>;
  /** What may change between two heartbeats, besides the load. */
  moment(): Promise<{ uptimeSeconds: number; pendingReboot?: boolean; lastUser?: string }>;
}

/** The machine this process runs on. */
export function realMachine(): Machine {
  const onWindows = windowsMoment();
  return {
    identity: collectIdentity,
    hardware: collectHardware,
    network: collectNetwork,
    disks: collectDisks,
    software: collectSoftware,
    services: collectServices,
    people: collectPeople,
    connections: collectConnections,
    processes: collectProcesses,
    patches: collectPatches,
    metrics: metricsSampler(),
    async moment() {
      const uptimeSeconds = Math.round(os.uptime());
      if (process.platform === 'win32') return { uptimeSeconds, ...(await onWindows()) };
      const [lastUser] = parseWho((await outputOf('who')) ?? '');
      const pendingReboot = await access('/run/reboot-required').then(
        () => true,
        () => false,
      );
      return { uptimeSeconds, ...(process.platform === 'linux' && { pendingReboot }), ...(lastUser && { lastUser }) };
    },
  };
}
