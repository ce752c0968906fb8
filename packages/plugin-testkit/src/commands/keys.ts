/** Keys that packages are signed with. */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';

const ID = /^[\w.-]{1,64}$/;

/** `plugin new-key`. Writes over no file. */
export async function makeKey(file: string | undefined, keyId: string | undefined): Promise<number> {
  if (!file) throw new Error('plugin new-key KEY.pem --key-id ID');
  const { privateKey } = generateKeyPairSync('ed25519');
  const id = keyIdOf(file, keyId);
  await writeFile(file, privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600, flag: 'wx' });
  const raw = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32);
  console.log(`PLUGINS_TRUST_KEYS=${id}:${raw.toString('base64')}`);
  return 0;
}

/** Of the name of the file, where none was given. */
export function keyIdOf(file: string, keyId = basename(file, extname(file))): string {
  if (!ID.test(keyId)) throw new Error('--key-id takes letters, digits, points, dashes and underscores');
  return keyId;
}

/** Throws for anything but an Ed25519 private key in PEM. */
export async function readKey(file: string): Promise<KeyObject> {
  const key = createPrivateKey(await readFile(file, 'utf8'));
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`${file} is not an Ed25519 key`);
  return key;
}
