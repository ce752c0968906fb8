/** An authenticator in software: real keys, real signatures, and every lie that a dishonest one might tell. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON as CreationOptions,
  RegistrationResponseJSON,
  PublicKeyCredentialRequestOptionsJSON as RequestOptions,
} from '@simplewebauthn/server';

export const ORIGIN = 'http://localhost:3000';
export const RP_ID = 'localhost';
const AAGUID = 'd548826e79b4db40a3d811116f7e8349';

/** What a test makes the authenticator or its browser say instead of the truth. */
export interface Lies {
  origin?: string;
  rpId?: string;
  challenge?: string;
  type?: string;
  crossOrigin?: boolean;
  topOrigin?: string;
  /** User verified. */
  verified?: boolean;
  present?: boolean;
  /** Replaces the counter, which otherwise grows by one with each use. */
  counter?: number;
  backupEligible?: boolean;
  userHandle?: string | null;
  format?: string;
  /** The make of the authenticator signs too. */
  certificate?: { der: Buffer; key: KeyObject };
  /** What the authenticator says inside, whatever the browser says beside it. */
  credentialId?: Buffer;
  /** Signs with another key. */
  key?: KeyObject;
}
export interface Authenticator {
  id: string;
  create(options: CreationOptions, lies?: Lies): RegistrationResponseJSON;
  get(options: RequestOptions, lies?: Lies): AuthenticationResponseJSON;
}

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest();
const base64url = (data: Buffer | string) => Buffer.from(data).toString('base64url');

// CBOR, as much as attestation needs: text, bytes, small integers and maps.
const head = (major: number, n: number) => {
  if (n < 24) return Buffer.from([(major << 5) | n]);
  return n < 256 ? Buffer.from([(major << 5) | 24, n]) : Buffer.from([(major << 5) | 25, n >> 8, n & 255]);
};
const cbor = {
  text: (text: string) => Buffer.concat([head(3, Buffer.byteLength(text)), Buffer.from(text)]),
  bytes: (data: Buffer) => Buffer.concat([head(2, data.length), data]),
  integer: (n: number) => (n >= 0 ? head(0, n) : head(1, -1 - n)),
  list: (items: Buffer[]) => Buffer.concat([head(4, items.length), ...items]),
  map: (entries: [Buffer, Buffer][]) => Buffer.concat([head(5, entries.length), ...entries.flat()]),
};

function coseKey(publicKey: KeyObject): Buffer {
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const { integer, bytes, map } = cbor;
  return map([
    [integer(1), integer(2)],
    [integer(3), integer(-7)],
    [integer(-1), integer(1)],
    [integer(-2), bytes(Buffer.from(x, 'base64url'))],
    [integer(-3), bytes(Buffer.from(y, 'base64url'))],
  ]);
}

export const newKey = (): KeyObject => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

/** One passkey, made when create() is called. @param counts false for authenticators that leave the counter at zero */
export function softAuthenticator({ counts = true, backupEligible = false } = {}): Authenticator {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const credentialId = randomBytes(32);
  let counter = 0;
  let userHandle = '';

  const clientData = (type: string, challenge: string, lies: Lies) =>
    Buffer.from(
      JSON.stringify({
        type: lies.type ?? type,
        challenge: lies.challenge ?? challenge,
        origin: lies.origin ?? ORIGIN,
        crossOrigin: lies.crossOrigin ?? false,
        ...(lies.topOrigin ? { topOrigin: lies.topOrigin } : {}),
      }),
    );
  const authData = (lies: Lies, attested?: Buffer) => {
    if (counts) counter += 1;
    const eligible = lies.backupEligible ?? backupEligible;
    const flags =
      (lies.present === false ? 0 : 0x01) |
      (lies.verified === false ? 0 : 0x04) |
      (eligible ? 0x18 : 0) |
      (attested ? 0x40 : 0);
    const count = Buffer.alloc(4);
    count.writeUInt32BE(lies.counter ?? counter);
    return Buffer.concat([sha256(lies.rpId ?? RP_ID), Buffer.from([flags]), count, attested ?? Buffer.alloc(0)]);
  };

  return {
    id: base64url(credentialId),
    create(options, lies = {}) {
      userHandle = options.user.id;
      const id = lies.credentialId ?? credentialId;
      const length = Buffer.from([id.length >> 8, id.length & 255]);
      const data = authData(lies, Buffer.concat([Buffer.from(AAGUID, 'hex'), length, id, coseKey(publicKey)]));
      const client = clientData('webauthn.create', options.challenge, lies);
      const { certificate } = lies;
      const signer = certificate?.key ?? lies.key ?? privateKey;
      const packed = cbor.map([
        [cbor.text('alg'), cbor.integer(-7)],
        [cbor.text('sig'), cbor.bytes(sign('sha256', Buffer.concat([data, sha256(client)]), signer))],
        ...(certificate ? [[cbor.text('x5c'), cbor.list([cbor.bytes(certificate.der)])] as [Buffer, Buffer]] : []),
      ]);
      const format = lies.format ?? 'none';
      const attestation = cbor.map([
        [cbor.text('fmt'), cbor.text(format)],
        [cbor.text('attStmt'), format === 'packed' ? packed : cbor.map([])],
        [cbor.text('authData'), cbor.bytes(data)],
      ]);
      return {
        id: base64url(credentialId),
        rawId: base64url(credentialId),
        type: 'public-key',
        authenticatorAttachment: 'platform',
        clientExtensionResults: { credProps: { rk: true } },
        response: {
          clientDataJSON: base64url(client),
          attestationObject: base64url(attestation),
          transports: ['internal', 'hybrid'],
        },
      };
    },
    get(options, lies = {}) {
      const data = authData(lies);
      const client = clientData('webauthn.get', options.challenge, lies);
      const handle = lies.userHandle === undefined ? userHandle : lies.userHandle;
      return {
        id: base64url(credentialId),
        rawId: base64url(credentialId),
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: base64url(client),
          authenticatorData: base64url(data),
          signature: base64url(sign('sha256', Buffer.concat([data, sha256(client)]), lies.key ?? privateKey)),
          ...(handle ? { userHandle: handle } : {}),
        },
      };
    },
  };
}
