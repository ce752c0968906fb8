/** Whose name `plugin dev` acts in: from the environment, so that it stands in no history and no list of processes. */

export interface Credentials {
  token: string | null;
  login: { email: string; password: string; code: string | null } | null;
}

/** Throws where there are none. */
export function readCredentials(env: NodeJS.ProcessEnv = process.env): Credentials {
  const { QUARTERMASTER_TOKEN: token, QUARTERMASTER_EMAIL: email, QUARTERMASTER_PASSWORD: password } = env;
  if (token) return { token, login: null };
  if (email && password) return { token: null, login: { email, password, code: env.QUARTERMASTER_MFA_CODE ?? null } };
  throw new Error(
    'plugin dev acts as a system administrator: set QUARTERMASTER_EMAIL and QUARTERMASTER_PASSWORD, or QUARTERMASTER_TOKEN',
  );
}
