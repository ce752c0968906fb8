/** What a Windows machine is made of, and whether it is a virtual one. */

import type { HardwareInfo } from '#agent-protocol';
import type { Row } from '../../tools/windows/powershell.ts';
import { known, numberOf, round } from '../ask.ts';
import { windowsRows } from './rows.ts';

const SCRIPT = `
  $system = Get-CimInstance -ClassName Win32_ComputerSystem
  $bios = Get-CimInstance -ClassName Win32_BIOS
  $cores = (Get-CimInstance -ClassName Win32_Processor | Measure-Object -Property NumberOfCores -Sum).Sum
  $disks = Get-CimInstance -ClassName Win32_DiskDrive | Where-Object { $_.Size -and $_.InterfaceType -ne 'USB' }
  @{
    cores = $cores; manufacturer = $system.Manufacturer; model = $system.Model
    serial = $bios.SerialNumber; bios = $bios.SMBIOSBIOSVersion
    board = @(Get-CimInstance -ClassName Win32_BaseBoard)[0].SerialNumber
    bytes = ($disks | Measure-Object -Property Size -Sum).Sum
    screens = @(Get-CimInstance -ClassName Win32_VideoController | ForEach-Object { $_.Name })
  }
`;
const GB = 1024 ** 3;

export async function windowsHardware(): Promise<HardwareInfo> {
  const [row] = (await windowsRows(SCRIPT)) ?? [];
  return row ? hardwareOf(row) : {};
}

/** Adapters that only stand in for a missing driver or a remote session count when there is no other. */
export function hardwareOf(row: Row): HardwareInfo {
  const screens = Array.isArray(row.screens) ? row.screens : [];
  const real = screens.find((name) => !/^Microsoft (Basic|Remote|Hyper-V)/.test(String(name)));
  const bytes = numberOf(row.bytes);
  return {
    cpuCores: numberOf(row.cores),
    diskTotalGb: bytes ? round(bytes / GB) : undefined,
    serialNumber: known(row.serial),
    manufacturer: known(row.manufacturer),
    model: known(row.model),
    motherboardSerial: known(row.board),
    biosVersion: known(row.bios),
    gpuModel: known(real ?? screens[0]),
  };
}

/** The word for a hypervisor by what its machines call themselves; undefined for real ones. */
export function virtualPlatform(manufacturer: unknown, model: unknown): string | undefined {
  const name = `${String(manufacturer)} ${String(model)}`;
  const marks: [RegExp, string][] = [
    [/vmware/i, 'vmware'],
    [/virtualbox|innotek/i, 'oracle'],
    [/microsoft corporation virtual machine/i, 'microsoft'],
    [/amazon ec2/i, 'amazon'],
    [/google compute engine/i, 'google'],
    [/parallels/i, 'parallels'],
    [/xen|hvm domu/i, 'xen'],
    [/qemu|kvm|bochs|red hat|nutanix|proxmox/i, 'kvm'],
  ];
  return marks.find(([mark]) => mark.test(name))?.[1];
}
