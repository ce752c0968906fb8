/** Whom requests speak for. */

/** Gives a token; called with the one that was just refused where there was one, so that it can get another. */
export type TokenProvider = (refused?: string) => string | Promise<string>;
/** A key or a token, or neither for what is open to all. */
export interface Credentials {
  apiKey?: string;
  accessToken?: string | TokenProvider;
}

/** Sets the header. @returns the token, if it came from a provider, which alone can give another one. */
export async function authorize(
  request: Request,
  { apiKey, accessToken }: Credentials,
  refused?: string,
): Promise<string | undefined> {
  if (apiKey !== undefined) request.headers.set('X-API-Key', apiKey);
  if (accessToken === undefined) return undefined;
  const token = typeof accessToken === 'string' ? accessToken : await accessToken(refused);
  request.headers.set('Authorization', `Bearer ${token}`);
  return typeof accessToken === 'string' ? undefined : token;
}
