/** The second factor: codes of an authenticator app, and recovery codes for when it is lost. */
import { randomBytes } from 'node:crypto';
import { generateSecret, generateSync, generateURI, verifySync } from 'otplib';
import { sha256Hex } from './opaque-tokens.ts';

const stepSeconds = 30;
/** Crockford's 32 characters: no i, l, o or u, so ten of them carry 50 bits and can be read out on the telephone. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';

export interface TotpCheck {
  /** Base32. */
  secret: string;
  /** What the user typed; spaces are ignored. */
  code: string;
  /** Milliseconds since the epoch; default: now. */
  now?: number | undefined;
  /** The step of the last accepted code: it and all before are refused, so a code seen once is worth nothing. */
  lastUsedStep?: number | null | undefined;
}

/** `step` goes with an accepted code and must be stored as the next `lastUsedStep` by compare-and-set. */
export interface TotpResult {
  ok: boolean;
  step?: number;
}

/** A new secret of 160 bits in Base32. */
export function newTotpSecret(): string {
  return generateSecret({ length: 20 });
}

/** The `otpauth://` address for the QR code. */
export function totpUri({ secret, account, issuer }: { secret: string; account: string; issuer: string }): string {
  return generateURI({ issuer, label: account, secret });
}

/** The code that an authenticator app would show now. */
export function totpCode(secret: string): string {
  return generateSync({ secret });
}

/** Checks a six-digit SHA-1 code of the current 30-second step or a neighbour of it. */
export function verifyTotp({ secret, code, now = Date.now(), lastUsedStep }: TotpCheck): TotpResult {
  const token = code.replace(/\s/g, '');
  if (!/^[0-9]{6}$/.test(token)) return { ok: false };
  const step = Math.floor(now / 1000 / stepSeconds);
  // Asked about the middle of the step, so that the tolerance is one whole step each way, never two.
  const epoch = step * stepSeconds + stepSeconds / 2;
  const result = verifySync({ secret, token, epoch, epochTolerance: stepSeconds });
  if (!result.valid) return { ok: false };
  const used = step + result.delta;
  // A code can be right for two steps; a later one that is unused would only be this very coincidence, so refuse.
  if (lastUsedStep != null && used <= lastUsedStep) return { ok: false };
  return { ok: true, step: used };
}

/** New recovery codes `xxxxx-xxxxx` of 50 bits each. */
export function newRecoveryCodes(count = 10): string[] {
  return Array.from({ length: count }, () => {
    const letters = Array.from(randomBytes(10), (byte) => alphabet.charAt(byte % alphabet.length)).join('');
    return `${letters.slice(0, 5)}-${letters.slice(5)}`;
  });
}

/** A recovery code however it was typed: case, dashes, spaces and look-alike letters do not matter. */
export function plainRecoveryCode(code: string): string {
  return code.toLowerCase().replace(/[\s-]/g, '').replaceAll('o', '0').replace(/[il]/g, '1');
}

/** SHA-256 in hex, as codes were stored before they were bound to their user; new ones are stored as `mac`. */
export function hashRecoveryCode(code: string): string {
  return sha256Hex(plainRecoveryCode(code));
}
