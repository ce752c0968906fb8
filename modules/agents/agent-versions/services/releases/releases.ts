/** What a source of releases gives: files by name, each readable as text or streamed through a hash. */
import type { Component } from '#agent-protocol';

/** Programs that a sync takes; others in a release are left alone. */
export const SYNCED: readonly Component[] = ['agent', 'helper', 'watchdog'];
/** Of manifests, signatures and checksums. */
export const TEXT_BYTES = 256 * 1024;
/** Of a program. */
export const PROGRAM_BYTES = 1024 * 1024 * 1024;

export interface ReleaseFile {
  name: string;
  /** Where installers fetch it; null for files of this server. */
  url: string | null;
  /** At most TEXT_BYTES. Throws UPSTREAM_ERROR. */
  text(): Promise<string>;
  /** SHA-256 and length of the whole file, never held in memory. Throws UPSTREAM_ERROR. */
  digest(): Promise<{ sha256: string; size: number }>;
}
export interface Release {
  version: string;
  source: 'github' | 'local';
  notes: string | null;
  files: ReleaseFile[];
}
