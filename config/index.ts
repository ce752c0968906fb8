/** Reads the environment once, checks all of it and hands out one frozen configuration. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { schema, type Variables } from './schema.ts';
import type { Config } from './types.ts';

export { variableNames } from './schema.ts';
export type { Config } from './types.ts';

type Environment = Record<string, string | undefined>;

/** Thrown when the environment is not usable; `faults` has every fault, the message one per line. */
export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/** In the order in which the enrollment key pepper is looked for. */
const PEPPER_SOURCES = ['ENROLLMENT_KEY_PEPPER', 'APP_ENCRYPTION_KEY', 'SECRET_ENCRYPTION_KEY', 'JWT_SECRET'] as const;

/** All of them or none. */
const TWILIO = ['TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN', 'TWILIO_FROM'] as const;

/**
 * Builds the configuration from the given variables; unknown ones are ignored, empty ones count as not given.
 * @throws {ConfigError} naming all faults at once, never the values: they may be secrets
 */
export function readConfig(env: Environment): Config {
  // Compose files and .env files give unset variables as empty strings.
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ''),
  );
  const { value, error } = schema.validate(given, {
    abortEarly: false,
    stripUnknown: true,
    errors: { label: false },
  });
  const faults = (error?.details ?? []).map((detail) => `${detail.path.join('.')}: ${detail.message}`);
  faults.push(...faultsBetween(given));
  if (error || faults.length > 0) throw new ConfigError(faults);
  return toConfig(value);
}

/**
 * The configuration of this process, frozen; variables of a `.env` file count where they are not set. Throws ConfigError.
 * Also sizes libuv's thread pool, which reads its variable at its first use: call it before anything else runs.
 */
export function loadConfig(): Config {
  if (existsSync('.env')) process.loadEnvFile('.env');
  const config = freeze(readConfig(process.env));
  process.env.UV_THREADPOOL_SIZE = String(config.threadPoolSize);
  return config;
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
  for (const name of TWILIO.filter((one) => !given[one])) {
    const other = TWILIO.find((one) => given[one]);
    if (other) faults.push(`${name}: must be given together with ${other}`);
  }
  for (const [name, other] of [
    ['VAPID_PUBLIC_KEY', 'VAPID_PRIVATE_KEY'],
    ['VAPID_PRIVATE_KEY', 'VAPID_PUBLIC_KEY'],
  ] as const) {
    if (given[name] && !given[other]) faults.push(`${other}: must be given together with ${name}`);
  }
  if (given.NODE_ENV === 'production') {
    for (const name of ['JWT_SECRET', 'APP_ENCRYPTION_KEY']) {
      if (!given[name]) faults.push(`${name}: must be given in production`);
    }
    if (!PEPPER_SOURCES.some((name) => given[name])) faults.push('No enrollment key pepper configured');
  }
  return faults;
}

function toConfig(v: Variables): Config {
  const { BOOTSTRAP_ADMIN_EMAIL: email, BOOTSTRAP_ADMIN_PASSWORD: password } = v;
  const { S3_BUCKET: bucket, S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = v;
  return {
    environment: v.NODE_ENV,
    production: v.NODE_ENV === 'production',
    role: v.ROLE,
    version: v.SERVICE_VERSION,
    threadPoolSize: v.UV_THREADPOOL_SIZE,
    logLevel: v.LOG_LEVEL,
    dataDir: v.DATA_DIR,
    http: {
      host: v.HOST,
      port: v.PORT,
      publicUrl: (v.PUBLIC_URL ?? `http://localhost:${v.PORT}`).replace(/\/+$/, ''),
      trustProxyHeaders: v.TRUST_PROXY_HEADERS,
      corsOrigins: v.CORS_ORIGINS,
      requireIfMatch: v.API_REQUIRE_IF_MATCH,
      metricsToken: v.METRICS_TOKEN,
      metricsPort: v.METRICS_PORT,
    },
    database: {
      url: v.DATABASE_URL,
      appUrl: v.DATABASE_APP_URL,
      platformUrl: v.DATABASE_PLATFORM_URL,
      poolSize: v.DATABASE_POOL_SIZE,
      embeddedPort: v.EMBEDDED_POSTGRES_PORT,
      autoMigrate: v.AUTO_MIGRATE,
    },
    redisUrl: v.REDIS_URL,
    workers: {
      concurrency: v.WORKER_CONCURRENCY,
      webhooks: v.WEBHOOK_CONCURRENCY,
      tenantConcurrency: v.WORKER_TENANT_CONCURRENCY ?? Math.max(1, Math.floor(v.WORKER_CONCURRENCY * 0.75)),
      tenantStrict: v.WORKER_TENANT_CONCURRENCY !== undefined,
      taskConcurrency: Object.fromEntries(
        v.WORKER_TASK_CONCURRENCY.map((text) => {
          const [task = '', most] = text.split('=');
          return [task, Number(most)];
        }),
      ),
    },
    plugins: {
      allowUnsigned: v.PLUGINS_ALLOW_UNSIGNED,
      trustKeys: v.PLUGINS_TRUST_KEYS.map(keyOf),
      sandbox: v.PLUGINS_SANDBOX,
      maxProcesses: v.PLUGINS_MAX_PROCESSES,
      idleSeconds: v.PLUGINS_IDLE_SECONDS,
    },
    secrets: {
      jwtSecret: v.JWT_SECRET,
      appEncryptionKey: v.APP_ENCRYPTION_KEY,
      secretEncryptionKey: v.SECRET_ENCRYPTION_KEY,
      enrollmentKeyPepper: v.ENROLLMENT_KEY_PEPPER,
    },
    identity: {
      registration: v.ENABLE_REGISTRATION,
      twoFactor: v.ENABLE_2FA,
      bootstrapAdmin: email && password ? { email, password } : undefined,
    },
    agents: {
      enrollmentKeyTtlMinutes: v.ENROLLMENT_KEY_DEFAULT_TTL_MINUTES,
      enrollmentSecret: v.AGENT_ENROLLMENT_SECRET,
      logRetentionDays: v.AGENT_LOG_RETENTION_DAYS,
      eventRetentionDays: v.EVENT_LOG_RETENTION_DAYS,
      socketsMax: v.AGENT_SOCKETS_MAX,
      pingSeconds: v.AGENT_PING_SECONDS,
      toolWaitSeconds: v.REMOTE_TOOL_WAIT_SECONDS,
      transferMaxBytes: v.FILE_TRANSFER_MAX_BYTES,
      binarySource: v.BINARY_SOURCE,
      binaryDir: v.AGENT_BINARY_DIR ?? join(v.DATA_DIR, 'agent-binaries'),
      binariesInStorage: bucket !== undefined && v.AGENT_BINARY_DIR === undefined,
      downloadsMax: v.AGENT_DOWNLOADS_MAX,
      release: {
        repo: v.AGENT_RELEASE_REPO,
        apiUrl: v.AGENT_RELEASE_API_URL.replace(/\/+$/, ''),
        assetHosts: v.AGENT_RELEASE_ASSET_HOSTS,
        token: v.AGENT_RELEASE_TOKEN,
      },
      trustKeys: v.AGENT_TRUST_KEYS.map(keyOf),
      autoPromote: v.AGENT_AUTO_PROMOTE,
      versionSync: v.AGENT_VERSION_SYNC,
    },
    mail: { url: v.MAIL_URL, from: v.MAIL_FROM },
    sms: { twilio: twilioOf(v) },
    push: {
      keys:
        v.VAPID_PUBLIC_KEY && v.VAPID_PRIVATE_KEY
          ? { publicKey: v.VAPID_PUBLIC_KEY, privateKey: v.VAPID_PRIVATE_KEY }
          : undefined,
      subject: v.VAPID_SUBJECT,
    },
    outbound: { allowCidrs: v.OUTBOUND_ALLOW_CIDRS, allowHttp: v.OUTBOUND_ALLOW_HTTP },
    objectStorage:
      bucket && accessKeyId && secretAccessKey
        ? {
            endpoint: v.S3_ENDPOINT,
            region: v.S3_REGION,
            bucket,
            accessKeyId,
            secretAccessKey,
            forcePathStyle: v.S3_FORCE_PATH_STYLE,
          }
        : undefined,
    modules: {
      disabled: v.MODULES_DISABLED,
      enabled: v.MODULES_ENABLED,
      plansWithout: byPlan(v.PLANS_WITHOUT),
      packages: [...new Set(v.MODULE_PACKAGES)],
      packagesDir: v.MODULE_PACKAGES_DIR,
    },
  };
}

/** `id:base64` */
function keyOf(text: string): { id: string; publicKey: string } {
  const [id = '', publicKey = ''] = text.split(':');
  return { id, publicKey };
}

function twilioOf(v: Variables): Config['sms']['twilio'] {
  const { TWILIO_ACCOUNT_SID: accountSid, TWILIO_AUTH_TOKEN: authToken, TWILIO_FROM: from } = v;
  if (!accountSid || !authToken || !from) return undefined;
  return { accountSid, authToken, from, apiUrl: v.TWILIO_API_URL.replace(/\/+$/, '') };
}

function freeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) {
    if (typeof inner === 'object' && inner !== null) freeze(inner);
  }
  return Object.freeze(value);
}

/** `free:sso` and its like, as lists of modules by plan. */
function byPlan(lacks: readonly string[]): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const lack of lacks) {
    const [plan = '', module = ''] = lack.split(':');
    found[plan] = [...(found[plan] ?? []), module];
  }
  return found;
}
