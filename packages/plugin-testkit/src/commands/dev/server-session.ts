/** Calls of a server's API in an author's name: logs in, and again when the token has expired. */
import type { Credentials } from './credentials.ts';

export class ServerError extends Error {
  readonly code: string;
  readonly status: number;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}
interface Refused {
  error?: { code?: string; message?: string; details?: { path?: string; name?: string; message?: string }[] };
}
interface LoggedIn {
  tokens?: { accessToken: string; refreshToken?: string };
  tempToken?: string;
}
export interface Body {
  content: Uint8Array<ArrayBuffer>;
  type: string;
}

export class ServerSession {
  private readonly base: string;
  private readonly credentials: Credentials;
  private token: string | null;
  private refreshToken: string | null = null;

  constructor(server: string, credentials: Credentials) {
    this.base = `${server.replace(/\/+$/, '')}/api/v1`;
    this.credentials = credentials;
    this.token = credentials.token;
  }

  /** Rejects with a ServerError. */
  async call<R>(method: string, path: string, body?: object | Body): Promise<R> {
    this.token ??= await this.logIn();
    try {
      return await this.ask<R>(method, path, body);
    } catch (error) {
      if (!(error instanceof ServerError) || error.status !== 401 || this.credentials.token) throw error;
      this.token = await this.logIn();
      return this.ask<R>(method, path, body);
    }
  }

  private async ask<R>(method: string, path: string, body?: object | Body): Promise<R> {
    return (await this.send(method, path, body)).body as R;
  }

  private async send(method: string, path: string, body?: object | Body) {
    const whole = body && 'content' in body;
    const type = whole ? (body as Body).type : 'application/json';
    const init: RequestInit = {
      method,
      headers: {
        ...(this.token ? { authorization: `Bearer ${this.token}` } : {}),
        ...(body ? { 'content-type': type } : {}),
      },
      ...(body ? { body: whole ? (body as Body).content : JSON.stringify(body) } : {}),
    };
    const answer = await fetch(`${this.base}${path}`, init).catch((error: Error) => {
      const cause = (error.cause as Error | undefined)?.message ?? error.message;
      throw new ServerError(0, 'UNREACHABLE', `${this.base} cannot be reached: ${cause}`);
    });
    const text = await answer.text();
    if (!answer.ok) throw errorFrom(answer.status, text);
    return { headers: answer.headers, body: text ? (JSON.parse(text) as unknown) : null };
  }

  /** The password once, then the refresh token, which a second factor was given for. */
  private async logIn(): Promise<string> {
    this.token = null;
    if (this.refreshToken) {
      const { tokens } = await this.ask<LoggedIn>('POST', '/auth/refresh', { refreshToken: this.refreshToken });
      this.refreshToken = tokens?.refreshToken ?? null;
      return tokens?.accessToken ?? '';
    }
    const { email = '', password = '', code = null } = this.credentials.login ?? {};
    let answer = await this.send('POST', '/auth/login', { email, password });
    const { tempToken } = answer.body as LoggedIn;
    if (tempToken) {
      if (!code)
        throw new ServerError(401, 'MFA_REQUIRED', 'The server wants a second factor: set QUARTERMASTER_MFA_CODE');
      answer = await this.send('POST', '/auth/mfa/verify', { tempToken, code });
    }
    this.refreshToken = cookieOf(answer.headers);
    return (answer.body as LoggedIn).tokens?.accessToken ?? '';
  }
}

const cookieOf = (headers: Headers): string | null =>
  headers
    .getSetCookie()
    .map((one) => /^svc_refresh_token=([^;]+)/.exec(one)?.[1])
    .find(Boolean) ?? null;

function errorFrom(status: number, text: string): ServerError {
  let given: Refused = {};
  try {
    given = JSON.parse(text) as Refused;
  } catch {
    // Something else than our server answered.
  }
  const { code = 'ERROR', message = `The server answered ${status}`, details = [] } = given.error ?? {};
  const more = details.flatMap((one) =>
    one.message && one.message !== message ? [`${one.path ?? one.name ?? ''} ${one.message}`.trim()] : [],
  );
  return new ServerError(status, code, [message, ...more].join('\n  '));
}
