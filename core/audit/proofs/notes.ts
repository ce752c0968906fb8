/** Checkpoints as the transparency world writes them: C2SP tlog-checkpoint in a C2SP signed-note, signed with Ed25519. */
import { createPrivateKey, createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';

export interface CheckpointBody {
  /** Names the chain: the key's name, a slash, and the owner. */
  origin: string;
  size: number;
  root: Buffer;
}
export interface Verifier {
  name: string;
  /** Raw Ed25519 public key, 32 bytes. */
  publicKey: Buffer;
}

const ED25519 = Buffer.from([1]);
// What precedes 32 raw bytes in the DER forms of Ed25519 keys (RFC 8410).
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');

export const publicKeyOf = (raw: Buffer): KeyObject =>
  createPublicKey({ key: Buffer.concat([SPKI, raw]), format: 'der', type: 'spki' });
export const privateKeyOf = (seed: Buffer): KeyObject =>
  createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
/** The raw public key that belongs to a 32-byte seed. */
export const publicBytesOf = (seed: Buffer): Buffer =>
  createPublicKey(privateKeyOf(seed)).export({ format: 'der', type: 'spki' }).subarray(-32);

/** The key id of a signed note: 4 bytes, as 8 hex digits. */
export function keyIdOf({ name, publicKey }: Verifier): string {
  const bytes = Buffer.concat([Buffer.from(`${name}\n`), ED25519, publicKey]);
  return hash('sha256', bytes, 'hex').slice(0, 8);
}

/** The one-line form in which a verifier's key is published: `name+id+base64`. */
export const verifierKey = (verifier: Verifier): string =>
  `${verifier.name}+${keyIdOf(verifier)}+${Buffer.concat([ED25519, verifier.publicKey]).toString('base64')}`;

/** A text of whole lines with its signature (C2SP signed-note). */
export function signNote(text: string, name: string, seed: Buffer): string {
  const id = Buffer.from(keyIdOf({ name, publicKey: publicBytesOf(seed) }), 'hex');
  const signature = sign(null, Buffer.from(text), privateKeyOf(seed));
  return `${text}\n— ${name} ${Buffer.concat([id, signature]).toString('base64')}\n`;
}

/** The text of a note that this verifier signed; null for any other. */
export function openNote(note: string, verifier: Verifier): string | null {
  const end = note.lastIndexOf('\n\n');
  if (end < 0) return null;
  const text = note.slice(0, end + 1);
  const start = `— ${verifier.name} `;
  const id = keyIdOf(verifier);
  const signed = note
    .slice(end + 2)
    .split('\n')
    .filter((line) => line.startsWith(start))
    .map((line) => Buffer.from(line.slice(start.length), 'base64'))
    .some(
      (bytes) =>
        bytes.subarray(0, 4).toString('hex') === id &&
        verify(null, Buffer.from(text), publicKeyOf(verifier.publicKey), bytes.subarray(4)),
    );
  return signed ? text : null;
}

/** The signed note of a checkpoint (C2SP tlog-checkpoint). */
export const signCheckpoint = ({ origin, size, root }: CheckpointBody, name: string, seed: Buffer): string =>
  signNote(`${origin}\n${size}\n${root.toString('base64')}\n`, name, seed);

/** What a note says of a chain, when this verifier signed it; null for any other text. */
export function openCheckpoint(note: string, verifier: Verifier): CheckpointBody | null {
  const [origin = '', size = '', root = ''] = openNote(note, verifier)?.split('\n') ?? [];
  if (!/^(0|[1-9]\d*)$/.test(size)) return null;
  return { origin, size: Number(size), root: Buffer.from(root, 'base64') };
}
