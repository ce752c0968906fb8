/** Prints and rotates the key that signs checkpoints of the audit trail. */
import { verifierKey } from '../../core/audit/proofs/notes.ts';
import { currentKey, rotateKey, signingKeys } from '../../core/audit/proofs/signing-keys.ts';
import type { TrailStore } from './open-trail.ts';

/** All keys; creates the first one when there is none. */
export async function printKeys({ host, inTransaction }: TrailStore): Promise<void> {
  await inTransaction(async (trail) => {
    await currentKey(trail, host);
    for (const key of await signingKeys(trail)) {
      process.stdout.write(`${verifierKey(key)}${key.retiredAt ? `  retired ${key.retiredAt.toISOString()}` : ''}\n`);
    }
  });
}

export async function rotateSigningKey({ host, inTransaction }: TrailStore): Promise<void> {
  const key = await inTransaction((trail) => rotateKey(trail, host));
  process.stdout.write(`${verifierKey(key)}\n`);
}
