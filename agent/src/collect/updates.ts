/** What an update of a device looks like, whether it waits or is installed. */
import type { Patch } from '#agent-protocol';

export interface PendingUpdate {
  /** How the system's own installer names it. */
  id: string;
  title: string;
  /** A version, or the number of a KB article. */
  version: string | null;
  kind: 'security' | 'driver' | 'other';
  /** The maker's own word, in lower case. */
  severity: string | null;
  sizeBytes: number | null;
  rebootRequired: boolean;
}

/** An update of a package of Linux: the same name for the one that waits and for the one that was installed. */
export function linuxPatch(manager: string, name: string, version: string, isSecurity = false): Patch {
  return {
    externalId: `${manager}:${name}@${version}`.slice(0, 255),
    source: 'linux',
    title: `${name} ${version}`.slice(0, 500),
    ...(isSecurity && { category: 'security' as const }),
    version: version.slice(0, 100),
    packageId: name.slice(0, 255),
  };
}
