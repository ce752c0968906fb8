/** Decides whether a program may be installed: by its signed manifest alone, never by what the server says of it. */
import { createPublicKey, verify } from 'node:crypto';
import { type Component, canonicalJson, type Manifest, type Platform, type ReleaseArchitecture } from '#agent-protocol';
import { UpdateFault } from './fault.ts';
import { compareVersions } from './versions.ts';

/** What the server answers for a link (GET /agent-versions/{version}/download). */
export interface Link {
  url: string;
  checksum: string;
  fileSize: number;
  manifest: string;
  manifestSignature: string;
  signingKeyId: string;
}
/** The program that is to be installed. */
export interface Wanted {
  version: string;
  component: Component;
  platform: Platform;
  arch: ReleaseArchitecture;
}
export interface Rules {
  /** Base64 of raw Ed25519 keys, pinned at enrollment. */
  trustKeys: readonly string[];
  /** The version that runs. */
  current: string;
  allowDowngrade: boolean;
  now: Date;
}
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');

/** The checksum and size that the file must have. Throws UpdateFault `signature_invalid`. */
export function mayInstall(link: Link, wanted: Wanted, rules: Rules): { sha256: string; size: number } {
  const refuse = (message: string) => new UpdateFault('signature_invalid', message);
  const signature = Buffer.from(link.manifestSignature, 'base64');
  if (!rules.trustKeys.some((key) => isSigned(key, link.manifest, signature))) {
    throw refuse('no trusted key has signed the manifest');
  }
  const manifest = JSON.parse(link.manifest) as Partial<Manifest>;
  // Signed bytes that read in two ways would be signed twice.
  if (canonicalJson(manifest) !== link.manifest) throw refuse('the manifest is not in canonical form');
  for (const part of ['version', 'component', 'platform', 'arch'] as const) {
    if (manifest[part] !== wanted[part]) throw refuse(`the manifest is for ${part} ${manifest[part]}`);
  }
  if (manifest.expiresAt && !(new Date(manifest.expiresAt) > rules.now)) throw refuse('the manifest has expired');
  const order = compareVersions(wanted.version, rules.current);
  if (order === undefined || (order < 0 && !rules.allowDowngrade)) {
    throw refuse(`${wanted.version} is not above ${rules.current}`);
  }
  const { sha256, size } = manifest;
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256) || !Number.isInteger(size)) {
    throw refuse('the manifest names no file');
  }
  return { sha256, size: size as number };
}

/** Whether a raw Ed25519 key in base64 made the signature; false also for malformed input. */
export function isSigned(trustKey: string, text: string, signature: Buffer): boolean {
  try {
    const key = Buffer.concat([SPKI, Buffer.from(trustKey, 'base64')]);
    return verify(null, Buffer.from(text), createPublicKey({ key, format: 'der', type: 'spki' }), signature);
  } catch {
    return false;
  }
}
