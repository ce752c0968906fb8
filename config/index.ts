/** Reads the environment once, checks all of it and hands out one frozen configuration. */
import { existsSync } from 'node:fs';
import { ConfigError, check, type Environment, givenOf } from './environment.ts';
import type { ModuleVariables } from './module-variables.ts';
import { OWN } from './own.ts';
import { toConfig } from './shape.ts';
import { type Config, ENVIRONMENT } from './types.ts';

export { ConfigError } from './environment.ts';
export { defineVariables, type ModuleVariables } from './module-variables.ts';
export { VERSION } from './own.ts';
export { type Rule, type Rules, trustKeyOf, type ValuesOf, variable } from './rules.ts';
export type { Config } from './types.ts';

/** Names of the deployment's own variables, in the order in which they are described. */
export const variableNames: readonly string[] = Object.keys(OWN);

/** In the order in which the enrollment key pepper is looked for. */
const PEPPER_SOURCES = ['ENROLLMENT_KEY_PEPPER', 'APP_ENCRYPTION_KEY', 'SECRET_ENCRYPTION_KEY', 'JWT_SECRET'] as const;

/** All of them or none. */
const TWILIO = ['TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN', 'TWILIO_FROM'] as const;

/**
 * Builds the configuration from the given variables; unknown ones are ignored, empty ones count as not given.
 * @param modules the variables of modules, to check with the others; each reads its own when it needs them
 * @throws {ConfigError} naming all faults at once, never the values: they may be secrets
 */
export function readConfig(env: Environment, modules: readonly ModuleVariables<unknown>[] = []): Config {
  const given = givenOf(env);
  const { values, faults } = check(OWN, given);
  faults.push(...faultsBetween(given), ...modules.flatMap((one) => one.faults({ [ENVIRONMENT]: given })));
  if (faults.length > 0) throw new ConfigError(faults);
  return toConfig(values, given);
}

/**
 * The configuration of this process, frozen; variables of a `.env` file count where they are not set. Throws ConfigError.
 * @param modules as for `readConfig`
 */
export function loadConfig(modules: readonly ModuleVariables<unknown>[] = []): Config {
  readEnvFile();
  const config = freeze(readConfig(process.env, modules));
  process.env.UV_THREADPOOL_SIZE = String(config.threadPoolSize);
  return config;
}

/** Sizes libuv's thread pool, which reads its variable at its first use: call it before anything else runs. */
export function sizeThreadPool(): void {
  readEnvFile();
  const { values, faults } = check({ UV_THREADPOOL_SIZE: OWN.UV_THREADPOOL_SIZE }, givenOf(process.env));
  if (faults.length === 0) process.env.UV_THREADPOOL_SIZE = String(values.UV_THREADPOOL_SIZE);
}

function readEnvFile(): void {
  if (existsSync('.env')) process.loadEnvFile('.env');
}

/** Faults that concern more than one variable. They are found in the given text, so that all faults are reported together. */
function faultsBetween(given: Environment): string[] {
  const faults: string[] = [];
  for (const name of ['DATABASE_APP_URL', 'DATABASE_PLATFORM_URL']) {
    if (given[name] && !given.DATABASE_URL) faults.push(`${name}: needs DATABASE_URL as well`);
  }
  if (given.BOOTSTRAP_ADMIN_EMAIL && !given.BOOTSTRAP_ADMIN_PASSWORD) {
    faults.push('BOOTSTRAP_ADMIN_PASSWORD: must be given together with BOOTSTRAP_ADMIN_EMAIL');
  }
  if (given.BOOTSTRAP_ADMIN_PASSWORD && !given.BOOTSTRAP_ADMIN_EMAIL) {
    faults.push('BOOTSTRAP_ADMIN_EMAIL: must be given together with BOOTSTRAP_ADMIN_PASSWORD');
  }
  for (const name of ['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY']) {
    if (given.S3_BUCKET && !given[name]) faults.push(`${name}: must be given together with S3_BUCKET`);
    if (given[name] && !given.S3_BUCKET) faults.push(`${name}: needs S3_BUCKET as well`);
  }
  if (given.S3_ENDPOINT && !given.S3_BUCKET) faults.push('S3_ENDPOINT: needs S3_BUCKET as well');
  const proxies = (given.TRUSTED_PROXIES ?? '').split(',').map((one) => one.trim());
  if (proxies.length > 1 && proxies.some((one) => /^\d$/.test(one))) {
    faults.push('TRUSTED_PROXIES: a number of proxies stands alone, without networks');
  }
  for (const name of TWILIO.filter((one) => !given[one])) {
    const other = TWILIO.find((one) => given[one]);
    if (other) faults.push(`${name}: must be given together with ${other}`);
  }
  if (given.NODE_ENV === 'production') {
    for (const name of ['JWT_SECRET', 'APP_ENCRYPTION_KEY']) {
      if (!given[name]) faults.push(`${name}: must be given in production`);
    }
    if (!PEPPER_SOURCES.some((name) => given[name])) faults.push('No enrollment key pepper configured');
  }
  return faults;
}

function freeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) {
    if (typeof inner === 'object' && inner !== null) freeze(inner);
  }
  return Object.freeze(value);
}
