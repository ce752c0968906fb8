/** What an update that waits on a device looks like. */

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
