/** The Ed25519 keys that sign checkpoints: made once, kept sealed, retired by the operator. */
import { randomBytes } from 'node:crypto';
import { isAuthentic, type Trail } from '../trail.ts';
import { keyIdOf, publicBytesOf, type Verifier } from './notes.ts';

export interface SigningKey extends Verifier {
  id: string;
  createdAt: Date;
  retiredAt: Date | null;
}

interface StoredKey extends SigningKey {
  proof: string;
  sealedPrivateKey: string | null;
}
const COLUMNS = `id, name, public_key as "publicKey", proof, sealed_private_key as "sealedPrivateKey",
  created_at as "createdAt", retired_at as "retiredAt"`;
const PURPOSE = 'audit signing key';
const textOf = ({ name, publicKey }: Verifier) => JSON.stringify([name, publicKey.toString('base64')]);
const placeOf = (id: string) => ({ table: 'audit_signing_keys', column: 'sealed_private_key', row: id });

/** Makes a key unless there is one in use. Of two processes that do so at once one wins. */
async function ensureKey(trail: Trail, host: string): Promise<void> {
  const seed = randomBytes(32);
  // A note's key name has neither spaces nor a plus.
  const verifier = { name: `${host.replace(/[\s+]/g, '')}/audit`, publicKey: publicBytesOf(seed) };
  const id = keyIdOf(verifier);
  await trail.query(
    `insert into audit_signing_keys (id, name, public_key, proof, sealed_private_key) values ($1, $2, $3, $4, $5)
     on conflict ((true)) where retired_at is null do nothing`,
    [
      id,
      verifier.name,
      verifier.publicKey,
      trail.mac(PURPOSE, textOf(verifier)),
      trail.seal.seal(seed.toString('base64'), placeOf(id)),
    ],
  );
}

/** The key to sign with, and its secret seed. @param host names the installation in a key that is made now */
export async function currentKey(trail: Trail, host: string): Promise<{ key: SigningKey; seed: Buffer }> {
  const read = () => trail.query<StoredKey>(`select ${COLUMNS} from audit_signing_keys where retired_at is null`);
  let found = (await read()).rows[0];
  if (!found) {
    await ensureKey(trail, host);
    found = (await read()).rows[0];
  }
  if (!found?.sealedPrivateKey) throw new Error('there is no key to sign checkpoints with');
  const seed = Buffer.from(trail.seal.open(found.sealedPrivateKey, placeOf(found.id)), 'base64');
  if (!publicBytesOf(seed).equals(found.publicKey)) throw new Error(`the signing key ${found.id} was tampered with`);
  const { proof: _, sealedPrivateKey: __, ...key } = found;
  return { key, seed };
}

/** All keys that ever signed here, newest first; without keys that this installation did not write. */
export async function signingKeys(trail: Trail): Promise<SigningKey[]> {
  const { rows } = await trail.query<StoredKey>(
    `select ${COLUMNS} from audit_signing_keys order by created_at desc, id`,
  );
  return rows
    .filter((row) => isAuthentic(trail, PURPOSE, textOf(row), row.proof))
    .map(({ proof: _, sealedPrivateKey: __, ...key }) => key);
}

/** Retires the key in use, erasing its secret, and makes the next. Checkpoints signed with the old one stay valid. */
export async function rotateKey(trail: Trail, host: string): Promise<SigningKey> {
  await trail.query(
    'update audit_signing_keys set retired_at = now(), sealed_private_key = null where retired_at is null',
  );
  return (await currentKey(trail, host)).key;
}

/** Writes new proofs for all public keys as they are; for the operator, after examining them. */
export async function signKeys(trail: Trail): Promise<void> {
  const { rows } = await trail.query<StoredKey>(`select ${COLUMNS} from audit_signing_keys`);
  for (const row of rows) {
    await trail.query('update audit_signing_keys set proof = $2 where id = $1', [
      row.id,
      trail.mac(PURPOSE, textOf(row)),
    ]);
  }
}
