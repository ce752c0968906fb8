/** Password hashes: Argon2id off the main thread, a few at a time. */
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';

/** OWASP's first choice for Argon2id: 19 MiB, two passes, one lane. */
const cost = { memory: 19_456, passes: 2, parallelism: 1 };
const saltBytes = 16;
const tagBytes = 32;
const form = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{16,86})$/;

/** The longest password in bytes of UTF-8 after normalising. */
export const maxPasswordBytes = 1024;

/** Too many passwords wait to be hashed; answer 503 and let the client come back. */
export class PasswordQueueFullError extends Error {
  readonly code = 'PASSWORD_QUEUE_FULL';

  constructor() {
    super('Too many passwords are waiting to be checked');
    this.name = 'PasswordQueueFullError';
  }
}

/** A password longer than `maxPasswordBytes`. */
export class PasswordTooLongError extends Error {
  readonly code = 'PASSWORD_TOO_LONG';

  constructor() {
    super(`A password has at most ${maxPasswordBytes} bytes`);
    this.name = 'PasswordTooLongError';
  }
}

interface Parts {
  memory: number;
  passes: number;
  parallelism: number;
  salt: Buffer;
  tag: Buffer;
}

// One for the process, as the thread pool it protects is.
const gate = { atOnce: 2, maxWaiting: 200, running: 0, waiting: [] as (() => void)[] };

/** How many may wait for each that runs: a few seconds' worth, so that every request in the queue is served in time. */
const waitingEach = 100;

/**
 * Sets how much of libuv's thread pool hashing may take: all but two threads, which stay free for files and name
 * look-ups. Call once at start with the size of the pool (libuv's own default is 4).
 */
export function limitHashing({
  threadPoolSize = 4,
  maxWaiting,
}: {
  threadPoolSize?: number;
  maxWaiting?: number;
}): void {
  gate.atOnce = Math.max(1, threadPoolSize - 2);
  gate.maxWaiting = maxWaiting ?? waitingEach * gate.atOnce;
}

/** Hashes now running and waiting. */
export function hashingLoad(): { running: number; waiting: number } {
  return { running: gate.running, waiting: gate.waiting.length };
}

/**
 * A PHC string `$argon2id$v=19$m=19456,t=2,p=1$salt$hash`.
 * Rejects with `PasswordTooLongError` or `PasswordQueueFullError`.
 */
export async function hashPassword(password: string): Promise<string> {
  const message = normalised(password);
  if (message.length > maxPasswordBytes) throw new PasswordTooLongError();
  const salt = randomBytes(saltBytes);
  const tag = await derive(message, { ...cost, salt, tag: Buffer.alloc(tagBytes) });
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${unpadded(salt)}$${unpadded(tag)}`;
}

/** Whether a password fits a stored hash; false for a hash it cannot read. Rejects with `PasswordQueueFullError`. */
export async function verifyPassword(password: string, phc: string): Promise<boolean> {
  const parts = read(phc);
  const message = normalised(password);
  if (parts === undefined || message.length > maxPasswordBytes) return false;
  return timingSafeEqual(await derive(message, parts), parts.tag);
}

/** The work of `verifyPassword` for a user who does not exist, so that the answer takes as long. Always false. */
export async function verifyDummy(password: string): Promise<false> {
  const message = normalised(password);
  if (message.length > maxPasswordBytes) return false;
  await derive(message, { ...cost, salt: Buffer.alloc(saltBytes), tag: Buffer.alloc(tagBytes) });
  return false;
}

/** Whether a stored hash should be made anew at the next login because its cost is not today's. */
export function needsRehash(phc: string): boolean {
  const parts = read(phc);
  if (parts === undefined) return true;
  const { memory, passes, parallelism, salt, tag } = parts;
  const sameCost = memory === cost.memory && passes === cost.passes && parallelism === cost.parallelism;
  return !sameCost || salt.length < saltBytes || tag.length < tagBytes;
}

function normalised(password: string): Buffer {
  // A text this long is refused whatever it normalises to, so no time is spent on it.
  return Buffer.from(password.length > maxPasswordBytes ? password : password.normalize('NFKC'), 'utf8');
}

/** The cost is bounded: a stored hash with a high cost must not be able to occupy the machine. */
function read(phc: string): Parts | undefined {
  const [, m = '', t = '', p = '', salt = '', tag = ''] = form.exec(phc) ?? [];
  const [memory, passes, parallelism] = [Number(m), Number(t), Number(p)];
  if (parallelism < 1 || parallelism > 8 || passes < 1 || passes > 16) return undefined;
  if (memory < 8 * parallelism || memory > 262_144) return undefined;
  return { memory, passes, parallelism, salt: Buffer.from(salt, 'base64'), tag: Buffer.from(tag, 'base64') };
}

async function derive(message: Buffer, { salt, tag, ...parameters }: Parts): Promise<Buffer> {
  await enter();
  try {
    return await new Promise<Buffer>((resolve, reject) => {
      argon2('argon2id', { ...parameters, message, nonce: salt, tagLength: tag.length }, (error, derived) => {
        if (error) reject(error);
        else resolve(derived);
      });
    });
  } finally {
    leave();
  }
}

async function enter(): Promise<void> {
  if (gate.running < gate.atOnce) {
    gate.running++;
    return;
  }
  if (gate.waiting.length >= gate.maxWaiting) throw new PasswordQueueFullError();
  await new Promise<void>((resolve) => gate.waiting.push(resolve));
}

function leave(): void {
  // The slot passes directly to the request that waited longest, so that a new one cannot overtake it.
  const next = gate.running <= gate.atOnce ? gate.waiting.shift() : undefined;
  if (next) next();
  else gate.running--;
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '');
}
