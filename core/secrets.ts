/** The secrets of this installation: as configured, or generated once and kept, so that a trial needs no set-up. */
import { randomBytes, randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '#config';
import { DataFolderError, makeDataFolder } from './data-folder.ts';

/** Never log these, nor an object that holds them. */
export interface Secrets {
  /** Signs access tokens. */
  jwtSecret: string;
  /** From which the keys that seal stored credentials are derived. */
  encryptionKey: string;
  /** Goes into the hash of enrollment keys. */
  enrollmentPepper: string;
}

export type SecretName = keyof Secrets;

/** Thrown when secrets can neither be read nor made; one sentence without secrets. */
export class SecretsError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SecretsError';
  }
}

/**
 * The secrets to use. What is not configured comes from `DATA_DIR/secrets.json` (mode 0600), made on first use; in
 * production nothing is generated.
 * @param mayMake asked with the path before a file is made; throws where there must not be a new one
 * @throws {SecretsError} when the file cannot be read or made, or a secret is missing in production
 * @throws {DataFolderError}
 */
export async function resolveSecrets(
  config: Config,
  mayMake: (path: string) => void = () => undefined,
): Promise<Secrets> {
  const configured = configuredSecrets(config);
  if (isComplete(configured)) return configured;
  if (config.production) throw new SecretsError('In production JWT_SECRET and APP_ENCRYPTION_KEY must be given.');
  const kept = await keptSecrets(config.dataDir, mayMake);
  return {
    jwtSecret: configured.jwtSecret ?? kept.jwtSecret,
    encryptionKey: configured.encryptionKey ?? kept.encryptionKey,
    enrollmentPepper: configured.enrollmentPepper ?? kept.enrollmentPepper,
  };
}

function configuredSecrets(config: Config): { [name in SecretName]: string | undefined } {
  const { jwtSecret, appEncryptionKey, secretEncryptionKey, enrollmentKeyPepper } = config.secrets;
  return {
    jwtSecret,
    encryptionKey: appEncryptionKey ?? secretEncryptionKey,
    // Changing the order makes all keys that were handed out invalid.
    enrollmentPepper: enrollmentKeyPepper ?? appEncryptionKey ?? secretEncryptionKey ?? jwtSecret,
  };
}

/** Where each secret comes from: the names of variables, or the path of the file. */
export function secretSources(config: Config): Record<SecretName, string> {
  const given = config.secrets;
  const variables: [value: string | undefined, name: string][] = [
    [given.enrollmentKeyPepper, 'ENROLLMENT_KEY_PEPPER'],
    [given.appEncryptionKey, 'APP_ENCRYPTION_KEY'],
    [given.secretEncryptionKey, 'SECRET_ENCRYPTION_KEY'],
    [given.jwtSecret, 'JWT_SECRET'],
  ];
  const file = join(config.dataDir, 'secrets.json');
  const sourceOf = (secret: string | undefined) =>
    variables.find(([value]) => secret !== undefined && value === secret)?.[1] ?? file;
  const { jwtSecret, encryptionKey, enrollmentPepper } = configuredSecrets(config);
  return {
    jwtSecret: jwtSecret ? 'JWT_SECRET' : file,
    encryptionKey: sourceOf(encryptionKey),
    enrollmentPepper: sourceOf(enrollmentPepper),
  };
}

function isComplete(secrets: { [name in keyof Secrets]?: unknown }): secrets is Secrets {
  const { jwtSecret, encryptionKey, enrollmentPepper } = secrets;
  return [jwtSecret, encryptionKey, enrollmentPepper].every((secret) => typeof secret === 'string' && secret !== '');
}

/** Reads the file, or makes it. Of two processes that make it at once one wins, and both read what it wrote. */
async function keptSecrets(dataDir: string, mayMake: (path: string) => void): Promise<Secrets> {
  const path = join(dataDir, 'secrets.json');
  const existing = await read(path);
  if (existing) return existing;
  mayMake(path);
  const secret = () => randomBytes(32).toString('hex');
  const made: Secrets = { jwtSecret: secret(), encryptionKey: secret(), enrollmentPepper: secret() };
  const draft = `${path}.${randomUUID()}`;
  try {
    await makeDataFolder(dataDir);
    await writeFile(draft, `${JSON.stringify(made, null, 2)}\n`, { flag: 'wx', mode: 0o600 });
    // A link appears with its whole content, and only where nothing is yet.
    await link(draft, path).catch((error: unknown) => (isCode(error, 'EEXIST') ? undefined : Promise.reject(error)));
  } catch (error) {
    if (error instanceof DataFolderError) throw error;
    throw new SecretsError(`Cannot keep the generated secrets in ${path}: ${reason(error)}.`, { cause: error });
  } finally {
    await rm(draft, { force: true }).catch(() => undefined);
  }
  return (await read(path)) ?? made;
}

async function read(path: string): Promise<Secrets | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw new SecretsError(`Cannot read the secrets in ${path}: ${reason(error)}.`, { cause: error });
  }
  const secrets = parse(text);
  if (secrets) return secrets;
  // A new file would silently make all sealed credentials unreadable, so that is for the operator to decide.
  throw new SecretsError(`The secrets in ${path} are damaged: restore the file, or remove it to generate new secrets.`);
}

function parse(text: string): Secrets | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && isComplete(value) ? value : undefined;
  } catch {
    // The parser's message quotes the text, so it must not go any further.
    return undefined;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

function reason(error: unknown): string {
  if (isCode(error, 'EACCES') || isCode(error, 'EPERM')) return 'permission denied';
  if (isCode(error, 'EROFS')) return 'the file system is read-only';
  if (isCode(error, 'ENOSPC')) return 'the disk is full';
  return error instanceof Error ? error.message : String(error);
}
