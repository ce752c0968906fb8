/** Ids of entries: uuids in the order of time (RFC 9562, version 7), so that a long index is written at its end only. */
import { randomBytes } from 'node:crypto';

let pool = Buffer.alloc(0);
let used = 0;

/** A new version 7 uuid: 48 bits of milliseconds, 74 random bits. */
export function newEntryId(now = Date.now()): string {
  if (used >= pool.length) {
    pool = randomBytes(10 * 256);
    used = 0;
  }
  const time = now.toString(16).padStart(12, '0');
  const random = pool.toString('hex', used, used + 10);
  used += 10;
  const variant = ((Number.parseInt(random[3] ?? '0', 16) & 3) | 8).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`;
}
