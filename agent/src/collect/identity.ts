/** Which system this is: name, version, architecture, a hash of its machine id, and what it is used for. */
import os from 'node:os';
import type { Architecture, OsType } from '#agent-protocol';
import { sha256Hex } from '../store/snapshot-hash.ts';
import { fileText, outputOf } from './ask.ts';
import { isHeadlessLinux } from './desktop.ts';
import { macosIdentity } from './macos/system.ts';
import { windowsIdentity } from './windows/system.ts';

export interface Identity {
  hostname: string;
  osType: OsType;
  osVersion: string;
  osBuild?: string;
  architecture: Architecture;
  machineId?: string;
  deviceRole?: string;
  isVirtual?: boolean;
  virtualizationPlatform?: string;
  /** No desktop to log in at. */
  isHeadless?: boolean;
}

/** Throws a plain sentence on a platform or architecture the protocol has no word for. */
export async function collectIdentity(): Promise<Identity> {
  const osType = osTypeOf(process.platform);
  const base = { hostname: os.hostname().slice(0, 255), osType, architecture: architectureOf(process.arch) };
  if (osType === 'macos') {
    // Every Mac shows a login window, if only to screen sharing.
    const { platformUuid, osVersion = `macOS ${os.release()}`, ...rest } = await macosIdentity();
    return {
      ...base,
      osVersion,
      machineId: hashed(platformUuid),
      deviceRole: 'workstation',
      isHeadless: false,
      ...rest,
    };
  }
  if (osType === 'windows') {
    const { machineGuid, osVersion = os.version(), osBuild = os.release(), ...rest } = await windowsIdentity();
    return { ...base, osVersion, osBuild, machineId: hashed(machineGuid), ...rest };
  }
  const platform = (await outputOf('systemd-detect-virt'))?.trim() ?? (await hypervisorFlag());
  return {
    ...base,
    osVersion: parseOsRelease((await fileText('/etc/os-release')) ?? '') ?? `Linux ${os.release()}`,
    osBuild: os.release(),
    machineId: hashed((await fileText('/etc/machine-id')) || (await fileText('/var/lib/dbus/machine-id'))),
    deviceRole: roleOfChassis(Number(await fileText('/sys/class/dmi/id/chassis_type'))),
    isVirtual: platform !== undefined && platform !== 'none',
    isHeadless: await isHeadlessLinux(),
    ...(platform && platform !== 'none' && { virtualizationPlatform: platform }),
  };
}

/** The protocol's word for a Node platform; throws on the others. */
export function osTypeOf(platform: string): OsType {
  const found = ({ linux: 'linux', darwin: 'macos', win32: 'windows' } as const)[platform];
  if (!found) throw new Error(`This agent does not run on ${platform}.`);
  return found;
}

/** The protocol's word for a Node architecture; throws on the others. */
export function architectureOf(arch: string): Architecture {
  const found = ({ x64: 'x64', ia32: 'x86', arm64: 'arm64' } as const)[arch];
  if (!found) throw new Error(`This agent does not run on ${arch} processors.`);
  return found;
}

/** The readable name in /etc/os-release. */
export function parseOsRelease(text: string): string | undefined {
  return text.match(/^PRETTY_NAME="?([^"\n]+)"?$/m)?.[1];
}

/** SMBIOS chassis types: desktops and portables are workstations, rack and blade forms are servers. */
export function roleOfChassis(type: number): string | undefined {
  if ([3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16, 24, 30, 31, 32, 35, 36].includes(type)) return 'workstation';
  if ([17, 23, 25, 28, 29].includes(type)) return 'server';
  return undefined;
}

async function hypervisorFlag(): Promise<string | undefined> {
  return /^flags\s*:.*\bhypervisor\b/m.test((await fileText('/proc/cpuinfo')) ?? '') ? 'vm-other' : undefined;
}

function hashed(id: string | undefined): string | undefined {
  return id ? sha256Hex(id.trim().toLowerCase()) : undefined;
}
