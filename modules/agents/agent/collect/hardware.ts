/** What the machine is made of. */
import { readdir } from 'node:fs/promises';
import os from 'node:os';
import type { HardwareInfo } from '../wire.ts';
import { fileText, known, numberOf, outputOf, parseObjects, powershell, round } from './ask.ts';

const GB = 1024 ** 3;

/** Collects what the platform tells; parts it does not tell are left out. */
export async function collectHardware(): Promise<HardwareInfo> {
  const base: HardwareInfo = {
    cpuModel: known(os.cpus()[0]?.model),
    cpuThreads: os.cpus().length || undefined,
    ramTotalMb: Math.round(os.totalmem() / 1024 ** 2),
  };
  if (process.platform === 'linux') return { ...base, ...(await linuxHardware()) };
  if (process.platform === 'darwin') return { ...base, ...(await macosHardware()) };
  return { ...base, ...(await windowsHardware()) };
}

async function linuxHardware(): Promise<HardwareInfo> {
  const dmi = async (name: string): Promise<string | undefined> => known(await fileText(`/sys/class/dmi/id/${name}`));
  return {
    ...parseCpuInfo((await fileText('/proc/cpuinfo')) ?? ''),
    diskTotalGb: await linuxDiskTotalGb(),
    serialNumber: await dmi('product_serial'),
    manufacturer: await dmi('sys_vendor'),
    model: (await dmi('product_name')) ?? known((await fileText('/proc/device-tree/model'))?.replaceAll('\0', '')),
    motherboardSerial: await dmi('board_serial'),
    biosVersion: await dmi('bios_version'),
    gpuModel: parseLspci((await outputOf('lspci', '-mm')) ?? ''),
  };
}

/** Model and number of physical cores from /proc/cpuinfo; ARM kernels name neither. */
export function parseCpuInfo(text: string): Pick<HardwareInfo, 'cpuModel' | 'cpuCores'> {
  const cores = new Set<string>();
  for (const block of text.split(/\n\s*\n/)) {
    const socket = block.match(/^physical id\s*:\s*(\d+)/m)?.[1];
    const core = block.match(/^core id\s*:\s*(\d+)/m)?.[1];
    if (core !== undefined) cores.add(`${socket ?? 0}/${core}`);
  }
  const cpuModel = known(text.match(/^model name\s*:\s*(.+)$/m)?.[1]);
  return { ...(cpuModel && { cpuModel }), ...(cores.size > 0 && { cpuCores: cores.size }) };
}

/** The first graphics adapter that `lspci -mm` lists. */
export function parseLspci(text: string): string | undefined {
  const line = text.split('\n').find((candidate) => /"(VGA compatible|3D|Display) controller"/.test(candidate));
  const [, vendor, device] = line?.match(/"[^"]*" "([^"]*)" "([^"]*)"/) ?? [];
  return known([vendor, device].filter(Boolean).join(' '));
}

async function linuxDiskTotalGb(): Promise<number | undefined> {
  const names = await readdir('/sys/block').catch(() => []);
  let sectors = 0;
  for (const name of names.filter((candidate) => /^(sd|hd|vd|xvd|nvme|mmcblk\d+$)/.test(candidate))) {
    if ((await fileText(`/sys/block/${name}/removable`)) === '1') continue;
    sectors += Number(await fileText(`/sys/block/${name}/size`)) || 0;
  }
  // The kernel counts in 512-byte sectors whatever the device uses.
  return sectors > 0 ? round((sectors * 512) / GB) : undefined;
}

async function macosHardware(): Promise<HardwareInfo> {
  const [report] = parseObjects(await outputOf('system_profiler', '-json', 'SPHardwareDataType')) ?? [];
  const [facts] = (report?.SPHardwareDataType as Record<string, unknown>[] | undefined) ?? [];
  const disk = (await outputOf('diskutil', 'info', '/'))?.match(/\((\d+) Bytes\)/)?.[1];
  return {
    cpuCores: numberOf(await outputOf('sysctl', '-n', 'hw.physicalcpu')),
    diskTotalGb: disk === undefined ? undefined : round(Number(disk) / GB),
    serialNumber: known(facts?.serial_number),
    manufacturer: 'Apple Inc.',
    model: known(facts?.machine_model),
    biosVersion: known(facts?.boot_rom_version),
  };
}

async function windowsHardware(): Promise<HardwareInfo> {
  const first = async (cls: string): Promise<Record<string, unknown>> =>
    (await powershell(`Get-CimInstance ${cls}`))?.[0] ?? {};
  const disks = (await powershell('Get-CimInstance Win32_DiskDrive -Filter "MediaType like \'Fixed%\'"')) ?? [];
  const bytes = disks.reduce((sum, { Size }) => sum + (numberOf(Size) ?? 0), 0);
  const bios = await first('Win32_BIOS');
  const system = await first('Win32_ComputerSystem');
  return {
    cpuCores: numberOf((await first('Win32_Processor')).NumberOfCores),
    diskTotalGb: bytes > 0 ? round(bytes / GB) : undefined,
    serialNumber: known(bios.SerialNumber),
    manufacturer: known(system.Manufacturer),
    model: known(system.Model),
    motherboardSerial: known((await first('Win32_BaseBoard')).SerialNumber),
    biosVersion: known(bios.SMBIOSBIOSVersion),
    gpuModel: known((await first('Win32_VideoController')).Name),
  };
}
