/** Which Mac this is, what it is made of, and who is logged on. */
import type { HardwareInfo } from '#agent-protocol';
import { known, numberOf, outputOf, parseObjects, round } from '../ask.ts';

const GB = 1024 ** 3;

export interface MacIdentity {
  osVersion?: string;
  osBuild?: string;
  platformUuid?: string;
  isVirtual?: boolean;
  virtualizationPlatform?: string;
}

export async function macosIdentity(): Promise<MacIdentity> {
  const [io, version, build, hypervisor] = await Promise.all([
    outputOf('ioreg', '-rd1', '-c', 'IOPlatformExpertDevice'),
    outputOf('sw_vers', '-productVersion'),
    outputOf('sw_vers', '-buildVersion'),
    outputOf('sysctl', '-n', 'kern.hv_vmm_present'),
  ]);
  const isVirtual = hypervisor?.trim() === '1';
  return {
    osVersion: version && `macOS ${version.trim()}`,
    osBuild: build?.trim(),
    platformUuid: io && parsePlatformUuid(io),
    ...(hypervisor !== undefined && { isVirtual }),
    ...(isVirtual && { virtualizationPlatform: 'vm-other' }),
  };
}

/** The identity of the mainboard in `ioreg -rd1 -c IOPlatformExpertDevice`. */
export function parsePlatformUuid(text: string): string | undefined {
  return text.match(/"IOPlatformUUID" = "([^"]+)"/)?.[1];
}

export async function macosHardware(): Promise<HardwareInfo> {
  const [report, disk, cores] = await Promise.all([
    outputOf('system_profiler', '-json', 'SPHardwareDataType', 'SPDisplaysDataType'),
    outputOf('diskutil', 'info', '/'),
    outputOf('sysctl', '-n', 'hw.physicalcpu'),
  ]);
  return {
    ...parseHardware(report),
    cpuCores: numberOf(cores),
    diskTotalGb: parseDiskSize(disk),
    manufacturer: 'Apple Inc.',
  };
}

/** `system_profiler -json SPHardwareDataType SPDisplaysDataType`; Macs with Apple's chip say `chip_type` for the processor. */
export function parseHardware(text: string | undefined): HardwareInfo {
  const [report] = parseObjects(text) ?? [];
  const [facts] = (report?.SPHardwareDataType as Record<string, unknown>[] | undefined) ?? [];
  const [screen] = (report?.SPDisplaysDataType as Record<string, unknown>[] | undefined) ?? [];
  const cpuModel = known(facts?.chip_type) ?? known(facts?.cpu_type);
  return {
    ...(cpuModel && { cpuModel }),
    serialNumber: known(facts?.serial_number),
    model: known(facts?.machine_model),
    biosVersion: known(facts?.boot_rom_version),
    gpuModel: known(screen?.sppci_model) ?? known(screen?._name),
  };
}

/** The first size in bytes that `diskutil info /` names: that of the container, which all volumes share. */
export function parseDiskSize(text: string | undefined): number | undefined {
  const bytes = text?.match(/(?:Container Total Space|Disk Size|Total Size):[^(]*\((\d+) Bytes\)/)?.[1];
  return bytes === undefined ? undefined : round(Number(bytes) / GB);
}

/** Users of `who`, the one at the screen first, each once. */
export function parseWho(text: string): string[] {
  const rows = [...text.matchAll(/^(\S+)\s+(\S+)\s/gm)].map(([, user = '', place]) => ({ user, place }));
  const ordered = [...rows.filter(({ place }) => place === 'console'), ...rows];
  return [...new Set(ordered.map(({ user }) => user))];
}
