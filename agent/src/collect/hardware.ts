/** What the machine is made of. */
import { readdir } from 'node:fs/promises';
import os from 'node:os';
import type { HardwareInfo } from '#agent-protocol';
import { fileText, known, outputOf, round } from './ask.ts';
import { macosHardware } from './macos/system.ts';
import { windowsHardware } from './windows/hardware.ts';

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
