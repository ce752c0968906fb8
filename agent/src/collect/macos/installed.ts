/** The updates that were installed on macOS, from the history that system_profiler prints. */
import type { Patch } from '#agent-protocol';
import { known, outputOf, parseObjects } from '../ask.ts';

/** Empty when the history cannot be read. */
export async function macosInstalled(): Promise<Patch[]> {
  return parseHistory(await outputOf('system_profiler', '-json', 'SPInstallHistoryDataType'));
}

/** What Apple itself installed; programs of other makers come with their own installers. The newest of each name. */
export function parseHistory(text: string | undefined): Patch[] {
  const [report] = parseObjects(text) ?? [];
  const list = report?.SPInstallHistoryDataType;
  const found = new Map<string, Patch>();
  for (const { _name, install_version, install_date, package_source } of Array.isArray(list) ? list : []) {
    const name = known(_name);
    const version = known(install_version);
    const at = new Date(typeof install_date === 'string' ? install_date : Number.NaN);
    if (!name || package_source !== 'package_source_apple' || Number.isNaN(at.getTime())) continue;
    const installedAt = at.toISOString();
    if ((found.get(name)?.installedAt ?? '') >= installedAt) continue;
    found.set(name, {
      externalId: `${name}@${version ?? ''}`.slice(0, 255),
      source: 'apple',
      title: (version ? `${name} ${version}` : name).slice(0, 500),
      ...(version && { version: version.slice(0, 100) }),
      packageId: name.slice(0, 255),
      installedAt,
    });
  }
  return [...found.values()];
}
