/** A real OpenID Connect provider on this machine, at which a test says who logs in and what goes wrong. */
import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import Provider, { type ClientMetadata, type JWK } from 'oidc-provider';
import { providerStore } from './provider-store.ts';

export interface Somebody {
  sub: string;
  email?: string;
  email_verified?: boolean | string;
  name?: string;
  /** How the provider let them in. */
  amr?: string[];
  /** Presses "deny". */
  declines?: boolean;
  /** Replaces the claims of the ID token, which is signed again. */
  forge?(claims: Record<string, unknown>): Record<string, unknown>;
  /** Signs with a key that the provider does not publish, under the name of one that it does. */
  forgeKey?: boolean;
}

export const CLIENT = { clientId: 'quartermaster', clientSecret: 'open-sesame-and-more-of-it' };

interface Key {
  kid: string;
  key: KeyObject;
}
const newKey = (): Key => ({
  kid: randomUUID(),
  key: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
});
const jwk = ({ kid, key }: Key): JWK =>
  ({ ...key.export({ format: 'jwk' }), kid, alg: 'RS256', use: 'sig' }) as unknown as JWK;

export class IdentityProvider {
  readonly people = new Map<string, Somebody>();
  /** Method, path and the scheme of authorization of each request. */
  readonly requests: string[] = [];
  issuer = '';
  readonly #store = providerStore();
  readonly #stranger = newKey();
  readonly #callbackUrl: string;
  readonly #client: Partial<ClientMetadata>;
  readonly #server = createServer((request, response) => this.#serve(request, response));
  #key = newKey();
  #provider: Provider | null = null;

  constructor(callbackUrl: string, client: Partial<ClientMetadata> = {}) {
    this.#callbackUrl = callbackUrl;
    this.#client = client;
  }

  async start(): Promise<this> {
    const port = this.issuer ? Number(new URL(this.issuer).port) : 0;
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
    this.issuer = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    this.#provider = this.#make();
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    if (!this.#server.listening) return;
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  /** Publishes and uses a new signing key instead of the old one. */
  rotateKey(): void {
    this.#key = newKey();
    this.#provider = this.#make();
  }

  #make(): Provider {
    const provider = new Provider(this.issuer, {
      clients: [
        {
          client_id: CLIENT.clientId,
          client_secret: CLIENT.clientSecret,
          redirect_uris: [this.#callbackUrl],
          grant_types: ['authorization_code'],
          response_types: ['code'],
          ...this.#client,
        },
      ],
      adapter: this.#store,
      jwks: { keys: [jwk(this.#key)] },
      cookies: { keys: ['a key for cookies'] },
      claims: { openid: ['sub', 'amr'], email: ['email', 'email_verified'], profile: ['name'] },
      features: { devInteractions: { enabled: false } },
      ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, IdToken: 600 },
      interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
      findAccount: (_ctx, sub) => {
        const somebody = this.people.get(sub);
        if (!somebody) return undefined;
        const { amr: _, declines: __, forge: ___, forgeKey: ____, ...claims } = somebody;
        return { accountId: sub, claims: () => claims };
      },
      loadExistingGrant: async (ctx) => {
        const { client, session } = ctx.oidc;
        const grant = new ctx.oidc.provider.Grant({
          clientId: client?.clientId ?? '',
          accountId: session?.accountId ?? '',
        });
        grant.addOIDCScope('openid email profile');
        await grant.save();
        return grant;
      },
    });
    provider.use(async (ctx, next) => {
      await next();
      const body = ctx.body as { id_token?: string } | undefined;
      if (ctx.path === '/token' && body?.id_token) body.id_token = await this.#forge(body.id_token);
    });
    return provider;
  }

  async #forge(idToken: string): Promise<string> {
    const claims = decodeJwt(idToken);
    const { forge, forgeKey } = this.people.get(claims.sub ?? '') ?? {};
    if (!forge && !forgeKey) return idToken;
    const header = decodeProtectedHeader(idToken) as { alg: string };
    const { key } = forgeKey ? this.#stranger : this.#key;
    return new SignJWT(forge ? forge(claims) : claims).setProtectedHeader(header).sign(key);
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const [scheme] = (request.headers.authorization ?? '').split(' ');
    this.requests.push(`${request.method} ${request.url?.split('?')[0]} ${scheme}`.trim());
    const provider = this.#provider;
    if (!provider) throw new Error('not started');
    if (!request.url?.startsWith('/interaction/')) {
      provider.callback()(request, response);
      return;
    }
    const sub = String(request.headers['x-somebody']);
    const somebody = this.people.get(sub);
    const result = somebody?.declines
      ? { error: 'access_denied', error_description: 'no thanks' }
      : { login: { accountId: sub, remember: false, ...(somebody?.amr ? { amr: somebody.amr } : {}) } };
    void provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  }
}
