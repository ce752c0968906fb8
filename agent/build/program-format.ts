/** Reads off the first bytes of a program which machine it is for. */

const ELF_MACHINES: Record<number, string> = { 62: 'amd64', 183: 'arm64' };
const PE_MACHINES: Record<number, string> = { 34404: 'amd64', 43620: 'arm64' };
const MACH_MACHINES: Record<number, string> = { 16777223: 'amd64', 16777228: 'arm64' };

/** Such as `linux-amd64`; undefined for what is no program. The first KiB is enough. */
export function formatOf(head: Buffer): string | undefined {
  if (head.length < 64) return undefined;
  if (head.readUInt32BE(0) === 0x7f454c46) return named('linux', ELF_MACHINES[head.readUInt16LE(18)]);
  if (head.readUInt32LE(0) === 0xfeedfacf) return named('macos', MACH_MACHINES[head.readUInt32LE(4)]);
  if (head.toString('latin1', 0, 2) !== 'MZ') return undefined;
  const pe = head.readUInt32LE(60);
  if (pe + 6 > head.length || head.toString('latin1', pe, pe + 4) !== 'PE\0\0') return undefined;
  return named('windows', PE_MACHINES[head.readUInt16LE(pe + 4)]);
}

const named = (platform: string, arch: string | undefined) => (arch ? `${platform}-${arch}` : undefined);
