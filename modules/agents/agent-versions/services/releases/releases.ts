/** A release from any source: files by name, each readable as text or hashed as a stream. */
import type { Component } from '#agent-protocol';

/** The programs that a sync registers; it ignores others. */
export const SYNCED: readonly Component[] = ['agent', 'watchdog'];
/** Maximum size of manifests, signatures and checksums. */
export const MAX_TEXT_BYTES = 256 * 1024;
/** Maximum size of a program. */
export const MAX_PROGRAM_BYTES = 1024 * 1024 * 1024;

export interface ReleaseFile {
  name: string;
  /** Where installers download it; null for files of this server. */
  url: string | null;
  /** At most MAX_TEXT_BYTES. Throws UPSTREAM_ERROR. */
  text(): Promise<string>;
  /** SHA-256 and size of the whole file, which is streamed. Throws UPSTREAM_ERROR. */
  digest(): Promise<{ sha256: string; size: number }>;
}
export interface Release {
  version: string;
  source: 'github' | 'local';
  notes: string | null;
  files: ReleaseFile[];
}
