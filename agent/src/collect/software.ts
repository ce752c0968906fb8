/** The installed software, from whichever package database the system keeps. */
import { readdir, stat } from 'node:fs/promises';
import type { SoftwareItem } from '#agent-protocol';
import { fileText, known, outputOf } from './ask.ts';
import { macosSoftware } from './macos/software.ts';
import { windowsSoftware } from './windows/inventory.ts';

const DPKG_FIELDS = ['db:Status-Status', 'Package', 'Version', 'Architecture', 'Maintainer'];
const DPKG_FORMAT = `${DPKG_FIELDS.map((field) => `\${${field}}`).join('\\t')}\\n`;
const RPM_FORMAT = '%{NAME}\\t%{VERSION}-%{RELEASE}\\t%{VENDOR}\\t%{INSTALLTIME}\\n';

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
  if (rpm) return parseRpm(rpm);
  const apk = await fileText('/lib/apk/db/installed');
  return apk ? parseApkDatabase(apk) : undefined;
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

/** The database of apk: a block of lines `P:name`, `V:version`, `m:maintainer` for each package. It keeps no install date. */
export function parseApkDatabase(text: string): SoftwareItem[] {
  return text.split(/\n\s*\n/).flatMap((block) => {
    const field = (letter: string): string | undefined => new RegExp(`^${letter}:(.+)$`, 'm').exec(block)?.[1]?.trim();
    const name = field('P');
    const version = field('V');
    const vendor = known(field('m')?.replace(/\s*<[^>]*>$/, ''));
    return name && version ? { name, version, ...(vendor && { vendor }) } : [];
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

/** Each name and version once: a package may be installed for two architectures. */
export function distinct(list: SoftwareItem[]): SoftwareItem[] {
  return [...new Map(list.map((item) => [`${item.name}\n${item.version}`, item])).values()];
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
