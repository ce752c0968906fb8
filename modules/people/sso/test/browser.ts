/** A browser as far as a login needs one: it keeps cookies, follows redirects and stops at the application. */
import { randomUUID } from 'node:crypto';
import type { ErrorBody, PlatformClient } from '#test';
import type { IdentityProvider, Somebody } from './identity-provider.ts';

export const PUBLIC_URL = 'http://localhost:3000';
export const CALLBACK = `${PUBLIC_URL}/api/v1/sso/callback`;

/** Where a login ended: on which page, with which code or error. */
export interface Landing {
  path: string;
  error: string | null;
  code: string | null;
}

export class Browser {
  readonly #platform: PlatformClient;
  /** By origin. */
  readonly #cookies = new Map<string, Map<string, string>>();
  /** As they were set by the platform. */
  readonly setCookies: string[] = [];
  /** An address of its own, so that limits by address do not mix tests. */
  readonly #address = { 'x-forwarded-for': `2001:db8:${randomUUID().slice(0, 4)}:${randomUUID().slice(0, 4)}::1` };

  constructor(platform: PlatformClient) {
    this.#platform = platform;
  }

  /** One request; never follows. The public address leads to the platform of the test. */
  async get(url: string, headers: Record<string, string> = {}): Promise<Response> {
    const real = url.startsWith(PUBLIC_URL) ? this.#platform.url + url.slice(PUBLIC_URL.length) : url;
    const jar = this.jar(new URL(real).origin);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(real, {
      redirect: 'manual',
      headers: { ...this.#address, ...headers, ...(cookie ? { cookie } : {}) },
    });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      jar.set(name, value);
      if (real.startsWith(this.#platform.url)) this.setCookies.push(set);
    }
    return response;
  }

  jar(origin: string): Map<string, string> {
    const jar = this.#cookies.get(origin) ?? new Map<string, string>();
    this.#cookies.set(origin, jar);
    return jar;
  }

  /** The cookies the platform would be sent. */
  get cookie(): string {
    return [...this.jar(this.#platform.url)].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** Opens the login of an organization; gives where it redirects. */
  async begin(orgId: string, query = ''): Promise<string> {
    const response = await this.get(`${PUBLIC_URL}/api/v1/sso/login/${orgId}${query}`);
    if (response.status !== 302) throw new Error(`the login answered ${response.status}: ${await response.text()}`);
    return response.headers.get('location') ?? '';
  }

  /** Logs in at the provider; gives the address of the callback with the provider's answer. */
  async authenticate(location: string, provider: IdentityProvider, somebody: Somebody): Promise<string> {
    provider.people.set(somebody.sub, somebody);
    let url = location;
    for (let step = 0; step < 10 && !url.startsWith(CALLBACK); step += 1) {
      const response = await this.get(url, { 'x-somebody': somebody.sub });
      const next = response.headers.get('location');
      if (!next) throw new Error(`the provider answered ${response.status}: ${await response.text()}`);
      url = new URL(next, url).href;
    }
    return url;
  }

  /** Goes back to the platform with the provider's answer. */
  async comeBack(callback: string): Promise<Landing> {
    const response = await this.get(callback);
    return landing(response.headers.get('location') ?? `${response.status} ${await response.text()}`);
  }

  /** The whole way. */
  async logIn(orgId: string, provider: IdentityProvider, somebody: Somebody, query = ''): Promise<Landing> {
    const location = await this.begin(orgId, query);
    if (location.startsWith(`${PUBLIC_URL}/login`)) return landing(location);
    return this.comeBack(await this.authenticate(location, provider, somebody));
  }

  /** Fetches the tokens, as the application does. */
  exchange<B = { tokens: { accessToken: string }; mfaRequired: boolean; tempToken?: string }>(code: string | null) {
    const headers = { ...this.#address, cookie: this.cookie };
    return this.#platform.call<B & ErrorBody>('POST', '/sso/exchange', { body: { code }, headers });
  }
}

export function landing(location: string): Landing {
  const url = URL.parse(location);
  if (!url || url.origin !== PUBLIC_URL) throw new Error(`landed elsewhere: ${location}`);
  return {
    path: url.pathname + url.search,
    error: url.searchParams.get('error'),
    code: new URLSearchParams(url.hash.slice(1)).get('ssoCode'),
  };
}
