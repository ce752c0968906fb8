/** Applications of macOS, as system_profiler lists them. */
import type { SoftwareItem } from '#agent-protocol';
import { known, outputOf, parseObjects } from '../ask.ts';

export async function macosSoftware(): Promise<SoftwareItem[] | undefined> {
  return parseApplications(await outputOf('system_profiler', '-json', 'SPApplicationsDataType'));
}

/** Undefined for what is no report. A developer's signature names the maker; the day is that of the last change. */
export function parseApplications(text: string | undefined): SoftwareItem[] | undefined {
  const [report] = parseObjects(text) ?? [];
  const list = report?.SPApplicationsDataType as Record<string, unknown>[] | undefined;
  return list?.flatMap(({ _name, version, path, signed_by, obtained_from, lastModified }) => {
    const name = known(_name);
    const signed = Array.isArray(signed_by)
      ? /^Developer ID Application: (.+)$/.exec(String(signed_by[0]))?.[1]
      : undefined;
    const vendor = known(signed) ?? (obtained_from === 'apple' ? 'Apple' : undefined);
    const installLocation = known(path);
    const day = typeof lastModified === 'string' ? /^\d{4}-\d\d-\d\d/.exec(lastModified)?.[0] : undefined;
    if (!name) return [];
    return {
      name,
      version: known(version) ?? '',
      ...(vendor && { vendor }),
      ...(day && { installDate: day }),
      ...(installLocation && { installLocation }),
    };
  });
}
