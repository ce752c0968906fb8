/** Disks, software and services of Windows, and the adapter that leads out. */

import type { DiskUsage, ServiceItem, SoftwareItem } from '#agent-protocol';
import { type Row, textOf } from '../../tools/windows/powershell.ts';
import { startOf, statusOf } from '../../tools/windows/services.ts';
import { known, numberOf, round } from '../ask.ts';
import { windowsRows } from './rows.ts';

const DISKS = `
  Get-CimInstance -ClassName Win32_LogicalDisk -Filter 'DriveType=3' |
    ForEach-Object { @{ name = $_.DeviceID; type = $_.FileSystem; size = $_.Size; free = $_.FreeSpace } }
`;
/** Of the machine, of its 32-bit half, and of every user who is logged on. Updates of a program are not programs. */
const SOFTWARE = `
  $key = '\\Microsoft\\Windows\\CurrentVersion\\Uninstall\\*'
  $roots = 'HKEY_LOCAL_MACHINE\\SOFTWARE', 'HKEY_LOCAL_MACHINE\\SOFTWARE\\WOW6432Node', 'HKEY_USERS\\S-1-5-21-*\\SOFTWARE'
  foreach ($root in $roots) {
    Get-Item -Path ('Registry::' + $root + $key) -ErrorAction SilentlyContinue | ForEach-Object {
      if ($_.GetValue('DisplayName') -and -not $_.GetValue('SystemComponent') -and -not $_.GetValue('ParentKeyName')) { @{
        name = $_.GetValue('DisplayName'); version = $_.GetValue('DisplayVersion'); vendor = $_.GetValue('Publisher')
        day = $_.GetValue('InstallDate'); place = $_.GetValue('InstallLocation')
      } }
    }
  }
`;
const SERVICES = `
  Get-CimInstance -ClassName Win32_Service | ForEach-Object { @{
    name = $_.Name; title = $_.DisplayName; state = $_.State; mode = $_.StartMode; delayed = $_.DelayedAutoStart
  } }
`;
const ROUTES = `
  Get-CimInstance -Namespace root/StandardCimv2 -ClassName MSFT_NetRoute |
    Where-Object { $_.DestinationPrefix -eq '0.0.0.0/0' } |
    ForEach-Object { @{ name = $_.InterfaceAlias; cost = [int]$_.RouteMetric + [int]$_.InterfaceMetric } }
`;
const GB = 1024 ** 3;
const LIMIT = 100;
const ROUTE_MS = 600_000;

export async function windowsDisks(): Promise<DiskUsage[]> {
  return ((await windowsRows(DISKS)) ?? []).slice(0, LIMIT).flatMap(diskOf);
}

/** A drive that is locked or not formatted tells no size, and is left out. */
export function diskOf(row: Row): DiskUsage[] {
  const total = numberOf(row.size);
  const free = numberOf(row.free);
  const name = textOf(row.name);
  if (!total || free === undefined || !name) return [];
  const used = total - free;
  return [
    {
      mountPoint: name,
      device: name,
      fsType: textOf(row.type) ?? 'unknown',
      totalGb: round(total / GB),
      usedGb: round(used / GB),
      freeGb: round(free / GB),
      usedPercent: round((100 * used) / total),
    },
  ];
}

export async function windowsSoftware(): Promise<SoftwareItem[] | undefined> {
  return someOf((await windowsRows(SOFTWARE))?.flatMap(softwareOf));
}

/** Installers write the day as 20250106, or whatever they like, which is left out. */
export function softwareOf(row: Row): SoftwareItem[] {
  const name = known(row.name);
  const vendor = known(row.vendor);
  const installLocation = known(row.place);
  const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)$/.exec(String(row.day)) ?? [];
  if (!name) return [];
  return [
    {
      name,
      version: known(row.version) ?? '',
      ...(vendor && { vendor }),
      ...(year && { installDate: `${year}-${month}-${day}` }),
      ...(installLocation && { installLocation }),
    },
  ];
}

export async function windowsServiceItems(): Promise<ServiceItem[] | undefined> {
  return someOf((await windowsRows(SERVICES))?.map(serviceOf));
}

export function serviceOf(row: Row): ServiceItem {
  const displayName = known(row.title);
  return {
    name: String(row.name),
    ...(displayName && { displayName }),
    state: statusOf(String(row.state)),
    startType: startOf(String(row.mode), row.delayed === true),
  };
}

/** Every Windows has services and programs: an empty list is a question that failed. */
function someOf<T>(list: T[] | undefined): T[] | undefined {
  return list && list.length > 0 ? list : undefined;
}

let route: { name: string | undefined; until: number } = { name: undefined, until: Number.NEGATIVE_INFINITY };

/** The adapter of the default route; remembered for ten minutes, because every heartbeat asks. */
export async function windowsPrimaryName(): Promise<string | undefined> {
  if (performance.now() > route.until) {
    route = { name: cheapest((await windowsRows(ROUTES)) ?? []), until: performance.now() + ROUTE_MS };
  }
  return route.name;
}

/** The name in the row with the lowest cost. */
export function cheapest(list: readonly Row[]): string | undefined {
  const [first] = [...list].sort((a, b) => Number(a.cost) - Number(b.cost));
  return known(first?.name);
}
