/** Signs the programs of a release folder, on the machine that builds them: the private key never reaches a server. */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { canonicalJson, coordinatesOf, type Manifest } from '#agent-protocol';

export interface Signing {
  version: string;
  keyId: string;
  /** Ed25519. */
  key: KeyObject;
  expiresAt?: string;
  minServerVersion?: string;
}

/** Writes `<program>.manifest.json`, `<program>.sig` and `checksums.txt`; returns the names of the programs. */
export async function signFolder(folder: string, signing: Signing, now = new Date()): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => coordinatesOf(name)).sort();
  const sums: string[] = [];
  for (const name of names) {
    const bytes = await readFile(join(folder, name));
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const { text, signature } = signProgram(name, { sha256, size: bytes.length }, signing, now);
    await writeFile(join(folder, `${name}.manifest.json`), `${text}\n`);
    await writeFile(join(folder, `${name}.sig`), `${signature}\n`);
    sums.push(`${sha256}  ${name}\n`);
  }
  await writeFile(join(folder, 'checksums.txt'), sums.join(''));
  return names;
}

/** The manifest's canonical text and the content of the `.sig` file. Throws for a name that is no program's. */
export function signProgram(
  name: string,
  file: { sha256: string; size: number },
  { version, keyId, key, expiresAt, minServerVersion }: Signing,
  now: Date,
): { text: string; signature: string } {
  const at = coordinatesOf(name);
  if (!at) throw new TypeError(`${name} is not named like a program`);
  const manifest: Manifest = {
    version,
    component: at.component,
    platform: at.platform,
    arch: at.architecture,
    sha256: file.sha256,
    size: file.size,
    issuedAt: now.toISOString(),
    ...(expiresAt ? { expiresAt } : {}),
    ...(minServerVersion ? { minServerVersion } : {}),
  };
  const text = canonicalJson(manifest);
  return { text, signature: `${keyId} ${sign(null, Buffer.from(text), key).toString('base64')}` };
}

/** The entry for AGENT_TRUST_KEYS that belongs to a private key. */
export function trustKeyOf(keyId: string, key: KeyObject): string {
  const raw = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32);
  return `${keyId}:${raw.toString('base64')}`;
}

/** Throws for anything but an Ed25519 private key in PEM. */
export function readKey(pem: string): KeyObject {
  const key = createPrivateKey(pem);
  if (key.asymmetricKeyType !== 'ed25519') throw new TypeError('the key is not an Ed25519 key');
  return key;
}
