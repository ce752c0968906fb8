/** Recordings of operations: what differs from run to run gets one stable value, and two recordings are compared by shape. */
import { createHash } from 'node:crypto';

export const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** Rows that every installation begins with. */
const SEEDED = /^00000000-0000-4000-8000-/;
/** Times that requests give. */
const GIVEN = /^(2020|2030)-01-01T/;
/** Longer texts are cut, and of longer lists the first are shown. */
const MOST_CHARACTERS = 2000;
const MOST_ROWS = 2;

/** Fields of passkeys that are random, or made of what is. */
const RANDOM = new Set([
  ...['id', 'rawId', 'credentialId', 'clientDataJSON', 'attestationObject', 'authenticatorData', 'publicKey'],
  ...['signature', 'userHandle', 'challenge', 'tempToken'],
]);
/** The keys of a browser: a point of the curve, which no other text is. */
const BROWSER: Record<string, string> = {
  p256dh: 'BEdXe8gjlGOhC6DWadct-lYe9Rt0C6XY4pmsKzN9soz_2D_Xz-055rVNT-GeVYO0nSr04GfzhC_3C6MD9njrgqA',
  auth: '4fV7Kd0sAGDGtUfFqIHf7w',
};
/** As base64url: with capitals, which neither ids nor hashes have. */
const ENCODED = /^(?=.*[A-Z])[\w-]{21,}$/;
const RECOVERY_CODE = /^[0-9A-Za-z]{4,6}(-[0-9A-Za-z]{4,6})+$/;
const recoveryCode = (hash: string) => `${hash.slice(0, 5)}-${hash.slice(5, 10)}`;

const NAMES: Record<string, string> = {
  Name: 'Contoso',
  Reason: 'Agreed with the customer',
  Organization: 'Contoso',
  Partner: 'Northwind IT',
};

/** Gives each value that a run made up the same one in every run; one of these for each operation. */
export class Normaliser {
  readonly #known = new Map<string, string>();
  #count = 0;

  #stable(kind: string, value: string, make: (hash: string, count: number) => string): string {
    const key = `${kind}:${value}`;
    const found = this.#known.get(key);
    if (found) return found;
    this.#count += 1;
    const made = make(createHash('sha256').update(`${kind} ${this.#count}`).digest('hex'), this.#count);
    this.#known.set(key, made);
    return made;
  }

  #text(value: string): string {
    const named = /^(Name|Reason|Organization|Partner) [0-9a-f]{8}$/.exec(value)?.[1];
    if (named) return NAMES[named] ?? value;
    if (/^User [0-9a-f]{8}@example\.com$/.test(value)) return 'Ada Lovelace';
    return value
      .replace(UUID, (id) =>
        SEEDED.test(id)
          ? id
          : this.#stable('uuid', id, (_, count) => `7c9e6679-7425-40de-944b-${String(count).padStart(12, '0')}`),
      )
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/g, (time) =>
        GIVEN.test(time) ? time : '2026-11-02T09:30:00.000Z',
      )
      .replace(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'eyJhbGciOiJFZERTQSJ9.ZXhhbXBsZQ.ZXhhbXBsZQ')
      .replace(/\b(svc|enr|whsec|ptk|rst|inv)_[\w+/-]{16,}=*/g, (token, kind: string) =>
        this.#stable('token', token, (hash) =>
          kind === 'whsec' ? `whsec_${Buffer.from(hash.slice(0, 32)).toString('base64')}` : `${kind}_${hash}`,
        ),
      )
      .replace(/\+4917\d{8}\b/g, '+4915112345678')
      .replace(/•••\d{4}\b/g, '•••5678')
      .replace(/\b[0-9a-f]{64}\b/g, (hex) => this.#stable('hash', hex, (hash) => hash))
      .replace(/\b[0-9a-f]{8}@example\.com/g, 'ada@example.com')
      .replace(/\b(Partner|Organization) [0-9a-f]{8}\b/g, (_, kind: string) => NAMES[kind] ?? kind)
      .replace(/\bhttps?:\/\/(localhost|127\.0\.0\.1)(:\d+)?/g, 'https://rmm.example.com')
      .replace(/\b([kt])(e7[0-9a-f]{6})\b/g, (_, letter: string, hex: string) =>
        this.#stable('hex', hex, (hash) => letter + hash.slice(0, 8)),
      )
      .replace(/\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{8}\b/g, (hex) =>
        this.#stable('hex', hex, (hash) => hash.slice(0, 8)),
      )
      .slice(0, MOST_CHARACTERS);
  }

  /** What only its name tells: codes, and what an authenticator or the server made of random bytes. */
  #field(key: string, value: unknown): unknown {
    // Jobs are numbered.
    if (typeof value === 'number' && (key === 'id' || key === 'jobId')) return 42;
    if (typeof value === 'string') {
      if (key === 'code' && /^\d{6}$/.test(value)) return '123456';
      if (key === 'code' && RECOVERY_CODE.test(value)) return this.#stable('recovery', value, recoveryCode);
      const known = BROWSER[key];
      if (known && ENCODED.test(value)) return known;
      if (RANDOM.has(key) && ENCODED.test(value))
        return this.#stable('random', value, (hash) => Buffer.from(hash).toString('base64url').slice(0, value.length));
    }
    if (key === 'recoveryCodes' && Array.isArray(value))
      return value.map((one) => this.#stable('recovery', String(one), recoveryCode));
    return this.of(value);
  }

  of(value: unknown): unknown {
    if (typeof value === 'string') return this.#text(value);
    if (Array.isArray(value)) {
      const rows = value.every((one) => one !== null && typeof one === 'object') ? value.slice(0, MOST_ROWS) : value;
      return rows.map((one) => this.of(one));
    }
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [this.#text(key), this.#field(key, inner)]));
  }
}

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
}

/** Where an answer has other keys than the recorded one, as far as its schema names them; null where it has the same. */
export function difference(
  schemas: Record<string, Schema>,
  schema: Schema | undefined,
  recorded: unknown,
  now: unknown,
  place = 'answer',
): string | null {
  if (!schema || typeof recorded !== 'object' || typeof now !== 'object' || !recorded || !now) {
    const kinds = recorded === null || now === null || typeof recorded === typeof now;
    return kinds ? null : `${place} is ${typeof now} and was ${typeof recorded}`;
  }
  if (schema.$ref) return difference(schemas, schemas[schema.$ref.split('/').at(-1) ?? ''], recorded, now, place);
  if (schema.anyOf) {
    const [only, ...others] = schema.anyOf.filter((one) => (one as { type?: string }).type !== 'null');
    return others.length > 0 ? null : difference(schemas, only, recorded, now, place);
  }
  if (Array.isArray(recorded) || Array.isArray(now)) {
    if (!Array.isArray(recorded) || !Array.isArray(now)) return `${place} is a list only once`;
    if (recorded.length === 0 || now.length === 0) return null;
    return difference(schemas, schema.items, recorded[0], now[0], `${place}[]`);
  }
  for (const [key, inner] of Object.entries(schema.properties ?? {})) {
    if (key in recorded !== key in now) return `${place}.${key} is there only once`;
    const [was, is] = [recorded, now].map((one) => (one as Record<string, unknown>)[key]);
    const found = difference(schemas, inner, was, is, `${place}.${key}`);
    if (found) return found;
  }
  return null;
}
