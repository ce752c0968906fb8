/** Signed manifests: Ed25519 over canonical JSON (RFC 8785), by a key that the operator trusts. */
import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import Joi from 'joi';
import {
  COMPONENTS,
  type Coordinates,
  canonicalJson,
  type Manifest,
  PLATFORMS,
  RELEASE_ARCHITECTURES,
} from '#agent-protocol';
import { ManifestInvalid } from '../../errors.ts';
import { versionWord } from '../../models/coordinates.ts';

export interface TrustKey {
  id: string;
  /** The raw 32 bytes in base64. */
  publicKey: string;
}
export interface SignedManifest {
  /** The canonical text that was signed. */
  text: string;
  /** Base64. */
  signature: string;
  keyId: string;
  manifest: Manifest;
}

const shape = Joi.object<Manifest>({
  version: versionWord().required(),
  component: Joi.string()
    .valid(...COMPONENTS)
    .required(),
  platform: Joi.string()
    .valid(...PLATFORMS)
    .required(),
  arch: Joi.string()
    .valid(...RELEASE_ARCHITECTURES)
    .required(),
  sha256: Joi.string()
    .pattern(/^[0-9a-f]{64}$/)
    .required(),
  size: Joi.number().integer().min(1).max(2_147_483_647).required(),
  url: Joi.string()
    .uri({ scheme: ['https', 'http'] })
    .max(2000),
  minServerVersion: versionWord(),
  issuedAt: Joi.string().isoDate().required(),
  expiresAt: Joi.string().isoDate(),
}).options({ convert: false });

const SPKI = Buffer.from('302a300506032b6570032100', 'hex');
/** The key object of a raw public key. Throws for an invalid key. */
export function ed25519Key(publicKey: string): KeyObject {
  const key = Buffer.concat([SPKI, Buffer.from(publicKey, 'base64')]);
  return createPublicKey({ key, format: 'der', type: 'spki' });
}

/** Whether a trusted key of this id made the signature; false also for malformed input. */
export function isSignedBy(
  keys: readonly TrustKey[],
  { text, signature, keyId }: Pick<SignedManifest, 'text' | 'signature' | 'keyId'>,
): boolean {
  const key = keys.find(({ id }) => id === keyId);
  if (!key) return false;
  try {
    return verify(null, Buffer.from(text), ed25519Key(key.publicKey), Buffer.from(signature, 'base64'));
  } catch {
    return false;
  }
}

/** Whether a registered manifest is signed by a trusted key and has not expired. */
export function isTrusted(
  keys: readonly TrustKey[],
  row: { manifest: string; manifestSignature: string; signingKeyId: string },
  now: Date,
): boolean {
  const signed = { text: row.manifest, signature: row.manifestSignature, keyId: row.signingKeyId };
  return isSignedBy(keys, signed) && !hasExpired(JSON.parse(row.manifest) as Manifest, now);
}

const hasExpired = ({ expiresAt }: Manifest, now: Date) => expiresAt !== undefined && new Date(expiresAt) <= now;

/**
 * Reads the manifest of a release and its signature (`<key id> <base64>`).
 * Throws MANIFEST_INVALID for one that is malformed, names another program, has no trusted signature, or has expired.
 */
export function readManifest(
  keys: readonly TrustKey[],
  file: string,
  texts: { manifest: string; signature: string },
  expected: Coordinates & { version: string },
  now: Date,
): SignedManifest {
  const refuse = (message: string) => ManifestInvalid({ details: [{ path: file, message }] });
  let read: unknown;
  try {
    read = JSON.parse(texts.manifest);
  } catch {
    throw refuse('it is not JSON');
  }
  const { value: manifest, error } = shape.validate(read);
  if (error) throw refuse(error.message);
  const [keyId = '', signature = '', ...rest] = texts.signature.trim().split(/\s+/);
  if (rest.length > 0 || signature.length !== 88) throw refuse('its signature must be a key id and 64 bytes in base64');
  const signed = { text: canonicalJson(manifest), signature, keyId, manifest };
  if (!keys.some(({ id }) => id === keyId)) throw refuse(`the key ${keyId.slice(0, 64)} is not trusted`);
  if (!isSignedBy(keys, signed)) throw refuse('its signature is wrong');
  if (hasExpired(manifest, now)) throw refuse('it has expired');
  const { version, component, platform, arch } = manifest;
  const same =
    version === expected.version &&
    component === expected.component &&
    platform === expected.platform &&
    arch === expected.architecture;
  if (!same) throw refuse('it names another version, component, platform or architecture');
  return signed;
}
