/** Counters of Windows that only grow: bytes of network and disks; and how many processes there are. */
import type { PowershellObject } from '../../tools/windows/powershell.ts';
import { numberOf } from '../ask.ts';
import { windowsRows } from './rows.ts';

const SCRIPT = `
  $network = Get-CimInstance -ClassName Win32_PerfRawData_Tcpip_NetworkInterface |
    Where-Object { $_.Name -notmatch 'isatap|teredo|loopback' }
  $disk = Get-CimInstance -ClassName Win32_PerfRawData_PerfDisk_PhysicalDisk | Where-Object { $_.Name -eq '_Total' }
  @{
    received = ($network | Measure-Object -Property BytesReceivedPersec -Sum).Sum
    sent = ($network | Measure-Object -Property BytesSentPersec -Sum).Sum
    read = $disk.DiskReadBytesPersec; written = $disk.DiskWriteBytesPersec
    processes = [System.Diagnostics.Process]::GetProcesses().Length
  }
`;

export interface WindowsLoad {
  network?: { in: number; out: number };
  disk?: { read: number; written: number };
  processCount?: number;
}

export async function windowsLoad(): Promise<WindowsLoad> {
  const [row] = (await windowsRows(SCRIPT)) ?? [];
  return row ? loadOf(row) : {};
}

/** Raw counters keep the names of the rates they are for: "…Persec" are totals here. */
export function loadOf(row: PowershellObject): WindowsLoad {
  const [inward, out, read, written] = [row.received, row.sent, row.read, row.written].map(numberOf);
  return {
    ...(inward !== undefined && out !== undefined && { network: { in: inward, out } }),
    ...(read !== undefined && written !== undefined && { disk: { read, written } }),
    processCount: numberOf(row.processes),
  };
}
