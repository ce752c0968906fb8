/** The installed software, from whichever package database the system keeps. */
import { readdir, stat } from 'node:fs/promises';
import type { SoftwareItem } from '../wire.ts';
import { known, outputOf, parseObjects, powershell } from './ask.ts';

const DPKG_FIELDS = ['db:Status-Status', 'Package', 'Version', 'Architecture', 'Maintainer'];
const DPKG_FORMAT = `${DPKG_FIELDS.map((field) => `\${${field}}`).join('\\t')}\\n`;
const RPM_FORMAT = '%{NAME}\\t%{VERSION}-%{RELEASE}\\t%{VENDOR}\\t%{INSTALLTIME}\\n';
const UNINSTALL = ['HKLM:\\Software', 'HKLM:\\Software\\WOW6432Node']
  .map((root) => `"${root}\\Microsoft\\Windows\\CurrentVersion\\Uninstall\\*"`)
  .join(',');

/** The list, or undefined when the system has no database this agent can read. */
export async function collectSoftware(): Promise<SoftwareItem[] | undefined> {
  const list = await listed();
  return list && distinct(list);
}

async function listed(): Promise<SoftwareItem[] | undefined> {
  if (process.platform === 'win32') return windowsSoftware();
  if (process.platform === 'darwin') return macosSoftware();
  const dpkg = await outputOf('dpkg-query', '-W', '-f', DPKG_FORMAT);
  if (dpkg) return parseDpkg(dpkg, await dpkgDates());
  const rpm = await outputOf('rpm', '-qa', '--qf', RPM_FORMAT);
  return rpm ? parseRpm(rpm) : undefined;
}

/** Lines of dpkg-query in DPKG_FORMAT; only packages that are installed. `dates` has `name` or `name:arch` as keys. */
export function parseDpkg(text: string, dates: ReadonlyMap<string, string> = new Map()): SoftwareItem[] {
  return text.split('\n').flatMap((line) => {
    const [status, name, version, architecture, maintainer] = line.split('\t');
    if (status !== 'installed' || !name || !version) return [];
    const vendor = known(maintainer?.replace(/\s*<[^>]*>\s*$/, ''));
    const installDate = dates.get(`${name}:${architecture}`) ?? dates.get(name);
    return { name, version, ...(vendor && { vendor }), ...(installDate && { installDate }) };
  });
}

/** Lines of rpm in RPM_FORMAT; the keys that rpm lists as packages are left out. */
export function parseRpm(text: string): SoftwareItem[] {
  return text.split('\n').flatMap((line) => {
    const [name, version, maker, installed] = line.split('\t');
    if (!name || !version || name === 'gpg-pubkey') return [];
    const vendor = maker === '(none)' ? undefined : known(maker);
    const seconds = Number(installed);
    return { name, version, ...(vendor && { vendor }), ...(seconds > 0 && { installDate: dayOf(seconds * 1000) }) };
  });
}

/** dpkg keeps no install date; the time of a package's file list is that of its last installation or upgrade. */
async function dpkgDates(): Promise<Map<string, string>> {
  const folder = '/var/lib/dpkg/info';
  const dates = new Map<string, string>();
  for (const file of await readdir(folder).catch(() => [])) {
    if (!file.endsWith('.list')) continue;
    const found = await stat(`${folder}/${file}`).catch(() => undefined);
    if (found) dates.set(file.slice(0, -'.list'.length), dayOf(found.mtimeMs));
  }
  return dates;
}

async function macosSoftware(): Promise<SoftwareItem[] | undefined> {
  const [report] = parseObjects(await outputOf('system_profiler', '-json', 'SPApplicationsDataType')) ?? [];
  const list = report?.SPApplicationsDataType as Record<string, unknown>[] | undefined;
  return list?.flatMap(({ _name, version, path, signed_by }) => {
    const name = known(_name);
    const vendor = Array.isArray(signed_by) ? known(signed_by[0]) : undefined;
    const installLocation = known(path);
    if (!name) return [];
    return {
      name,
      version: known(version) ?? '',
      ...(vendor && { vendor }),
      ...(installLocation && { installLocation }),
    };
  });
}

async function windowsSoftware(): Promise<SoftwareItem[] | undefined> {
  const fields = 'DisplayName,DisplayVersion,Publisher,InstallDate,InstallLocation';
  const filter = 'Where-Object { $_.DisplayName -and -not $_.SystemComponent }';
  const rows = await powershell(
    `Get-ItemProperty ${UNINSTALL} -ErrorAction Ignore | ${filter} | Select-Object ${fields}`,
  );
  return rows?.flatMap((row) => {
    const name = known(row.DisplayName);
    const vendor = known(row.Publisher);
    const installLocation = known(row.InstallLocation);
    const [, year, month, day] = /^(\d{4})(\d\d)(\d\d)$/.exec(String(row.InstallDate)) ?? [];
    if (!name) return [];
    return {
      name,
      version: known(row.DisplayVersion) ?? '',
      ...(vendor && { vendor }),
      ...(year && { installDate: `${year}-${month}-${day}` }),
      ...(installLocation && { installLocation }),
    };
  });
}

/** Each name and version once: a package may be installed for two architectures. */
export function distinct(list: SoftwareItem[]): SoftwareItem[] {
  return [...new Map(list.map((item) => [`${item.name}\n${item.version}`, item])).values()];
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
