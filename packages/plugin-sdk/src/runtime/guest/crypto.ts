/** `crypto`: random numbers, digests, and HMAC as in the Web Cryptography API. */
import { type HostFunctions, provide } from './host-functions.ts';

type Data = ArrayBuffer | ArrayBufferView;
type Algorithm = string | { name: string; hash?: Algorithm };

const HASHES: Record<string, string> = {
  'SHA-1': 'sha1',
  'SHA-256': 'sha256',
  'SHA-384': 'sha384',
  'SHA-512': 'sha512',
};

function bufferOf(data: Data): ArrayBuffer {
  if (!ArrayBuffer.isView(data)) return data;
  return data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength) as ArrayBuffer;
}
const nameOf = (algorithm: Algorithm): string =>
  (typeof algorithm === 'string' ? algorithm : algorithm.name).toUpperCase();
const notSupported = (what: string) => new DOMException(`${what} is not supported`, 'NotSupportedError');

function hashOf(algorithm: Algorithm | undefined): string {
  const hash = algorithm === undefined ? undefined : HASHES[nameOf(algorithm)];
  if (!hash) throw notSupported(algorithm === undefined ? 'A key without a hash' : nameOf(algorithm));
  return hash;
}

interface Key {
  readonly type: 'secret';
  readonly extractable: boolean;
  readonly algorithm: { name: 'HMAC'; hash: { name: string } };
  readonly usages: string[];
}

export function provideCrypto(host: HostFunctions): void {
  const secrets = new WeakMap<object, { hash: string; secret: ArrayBuffer }>();
  const mustKnow = (key: object) => {
    const known = secrets.get(key);
    if (!known) throw new TypeError('That is no key of crypto.subtle');
    return known;
  };
  const subtle = {
    digest: async (algorithm: Algorithm, data: Data): Promise<ArrayBuffer> =>
      host.digest(hashOf(algorithm), bufferOf(data)),
    async importKey(format: string, data: Data, algorithm: Algorithm, extractable: boolean, usages: string[]) {
      if (format !== 'raw' || nameOf(algorithm) !== 'HMAC' || typeof algorithm === 'string')
        throw notSupported(`A key of ${nameOf(algorithm)} as ${format}`);
      const hash = hashOf(algorithm.hash);
      const name = nameOf(algorithm.hash ?? '');
      const key: Key = { type: 'secret', extractable, algorithm: { name: 'HMAC', hash: { name } }, usages };
      secrets.set(key, { hash, secret: bufferOf(data) });
      return key;
    },
    async sign(_algorithm: Algorithm, key: Key, data: Data): Promise<ArrayBuffer> {
      const { hash, secret } = mustKnow(key);
      return host.hmac(hash, secret, bufferOf(data));
    },
    async verify(_algorithm: Algorithm, key: Key, signature: Data, data: Data): Promise<boolean> {
      const { hash, secret } = mustKnow(key);
      const [made, given] = [host.hmac(hash, secret, bufferOf(data)), bufferOf(signature)].map(
        (one) => new Uint8Array(one),
      );
      if (!made || !given || made.length !== given.length) return false;
      let difference = 0;
      for (const [n, byte] of made.entries()) difference |= byte ^ (given[n] ?? 0);
      return difference === 0;
    },
  };
  const MOST_RANDOM = 65_536;
  const crypto = {
    subtle: Object.freeze(subtle),
    getRandomValues<T extends ArrayBufferView>(array: T): T {
      if (array.byteLength > MOST_RANDOM) throw new DOMException('At most 65536 bytes at once', 'QuotaExceededError');
      new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(
        new Uint8Array(host.random(array.byteLength)),
      );
      return array;
    },
    randomUUID(): string {
      const bytes = new Uint8Array(host.random(16));
      bytes[6] = ((bytes[6] ?? 0) & 15) | 64;
      bytes[8] = ((bytes[8] ?? 0) & 63) | 128;
      const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
      return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
    },
  };
  provide({ crypto: Object.freeze(crypto) });
}
