/** Every environment variable that Quartermaster knows, with its rule and its default. */
import { availableParallelism } from 'node:os';
import Joi from 'joi';

/** The variables after validation: converted, defaults filled in. */
export interface Variables {
  NODE_ENV: 'development' | 'test' | 'production';
  ROLE: 'all' | 'api' | 'worker';
  HOST: string;
  PORT: number;
  PUBLIC_URL?: string;
  DATA_DIR: string;
  LOG_LEVEL: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';
  UV_THREADPOOL_SIZE: number;
  SERVICE_VERSION: string;
  TRUST_PROXY_HEADERS: boolean;
  CORS_ORIGINS: string[];
  API_REQUIRE_IF_MATCH: boolean;
  METRICS_TOKEN?: string;
  METRICS_PORT?: number;
  DATABASE_URL?: string;
  DATABASE_APP_URL?: string;
  DATABASE_PLATFORM_URL?: string;
  DATABASE_POOL_SIZE: number;
  EMBEDDED_POSTGRES_PORT: number;
  AUTO_MIGRATE: boolean;
  REDIS_URL?: string;
  WORKER_CONCURRENCY: number;
  WEBHOOK_CONCURRENCY: number;
  PLUGINS_ALLOW_UNSIGNED: boolean;
  PLUGINS_TRUST_KEYS: string[];
  PLUGINS_SANDBOX: 'auto' | 'strict';
  PLUGINS_MAX_PROCESSES: number;
  PLUGINS_IDLE_SECONDS: number;
  WORKER_TENANT_CONCURRENCY?: number;
  WORKER_TASK_CONCURRENCY: string[];
  JWT_SECRET?: string;
  APP_ENCRYPTION_KEY?: string;
  SECRET_ENCRYPTION_KEY?: string;
  ENROLLMENT_KEY_PEPPER?: string;
  ENABLE_REGISTRATION: boolean;
  ENABLE_2FA: boolean;
  BOOTSTRAP_ADMIN_EMAIL?: string;
  BOOTSTRAP_ADMIN_PASSWORD?: string;
  ENROLLMENT_KEY_DEFAULT_TTL_MINUTES: number;
  AGENT_ENROLLMENT_SECRET?: string;
  AGENT_LOG_RETENTION_DAYS: number;
  EVENT_LOG_RETENTION_DAYS: number;
  AGENT_SOCKETS_MAX: number;
  AGENT_PING_SECONDS: number;
  REMOTE_TOOL_WAIT_SECONDS: number;
  FILE_TRANSFER_MAX_BYTES: number;
  BINARY_SOURCE: 'github' | 'local';
  AGENT_BINARY_DIR?: string;
  AGENT_DOWNLOADS_MAX: number;
  AGENT_RELEASE_REPO?: string;
  AGENT_RELEASE_API_URL: string;
  AGENT_RELEASE_ASSET_HOSTS: string[];
  AGENT_RELEASE_TOKEN?: string;
  AGENT_TRUST_KEYS: string[];
  AGENT_AUTO_PROMOTE: boolean;
  AGENT_VERSION_SYNC: boolean;
  MAIL_URL?: string;
  MAIL_FROM: string;
  TWILIO_ACCOUNT_SID?: string;
  TWILIO_AUTH_TOKEN?: string;
  TWILIO_FROM?: string;
  TWILIO_API_URL: string;
  VAPID_PUBLIC_KEY?: string;
  VAPID_PRIVATE_KEY?: string;
  VAPID_SUBJECT?: string;
  OUTBOUND_ALLOW_CIDRS: string[];
  OUTBOUND_ALLOW_HTTP: boolean;
  S3_ENDPOINT?: string;
  S3_REGION: string;
  S3_BUCKET?: string;
  S3_ACCESS_KEY_ID?: string;
  S3_SECRET_ACCESS_KEY?: string;
  S3_FORCE_PATH_STYLE: boolean;
  MODULES_DISABLED: string[];
  MODULES_ENABLED: string[];
  PLANS_WITHOUT: string[];
  MODULE_PACKAGES: string[];
  MODULE_PACKAGES_DIR?: string;
}

const flag = (fallback: boolean) =>
  Joi.boolean()
    .truthy('1', 'yes', 'on')
    .falsy('0', 'no', 'off')
    .default(fallback)
    .messages({ 'boolean.base': 'must be one of 0, false, no, off, 1, true, yes, on' });

const number = (min: number, max: number, fallback: number) =>
  Joi.number().integer().min(min).max(max).default(fallback);

const url = (...scheme: string[]) =>
  Joi.string()
    .uri({ scheme })
    .messages({
      'string.uriCustomScheme': `must be a URL that starts with ${scheme.map((one) => `${one}://`).join(' or ')}`,
    });

/** A comma-separated list; a fault names the position, never the text, which might be a misplaced secret. */
const list = (item: Joi.StringSchema): Joi.ArraySchema<string[]> => {
  const schema: Joi.Schema = Joi.string()
    .custom((text: string, helpers) => {
      const entries = text
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== '');
      for (const [index, entry] of entries.entries()) {
        const { error } = item.validate(entry, { errors: { label: false } });
        if (error) return helpers.message({ custom: `entry ${index + 1} ${error.message}` });
      }
      return entries;
    })
    .default([]);
  // Text goes in, an array comes out: for the compiler only what comes out counts.
  return schema as Joi.ArraySchema<string[]>;
};

const secret = () => Joi.string().min(32).messages({ 'string.min': 'must have at least 32 characters' });
const moduleName = Joi.string()
  .pattern(/^[a-z][a-z0-9-]*$/)
  .messages({ 'string.pattern.base': 'must be a module name in small letters, digits and dashes' });
const packageName = Joi.string()
  .max(214)
  .pattern(/^(@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/)
  .messages({ 'string.pattern.base': 'must be the name of an npm package' });
/** `<plan>:<module>`. */
const planLack = Joi.string()
  .pattern(/^(free|starter|community|pro|enterprise|unlimited):[a-z][a-z0-9-]*$/)
  .messages({ 'string.pattern.base': 'must be a plan, a colon and a module name' });
const origin = Joi.string()
  .pattern(/^https?:\/\/[^/?#\s]+$/)
  .messages({ 'string.pattern.base': 'must be an origin such as https://rmm.example.com, without a path' });

/** `<module>/<job>=<most at once>`. */
const taskLimit = Joi.string()
  .pattern(/^[a-z][a-z0-9-]*\/[a-z][a-z0-9-]*=[1-9]\d{0,2}$/)
  .messages({ 'string.pattern.base': 'must be a task, an equals sign and a number from 1 to 999' });

/** Bytes in base64url, as tools for Web Push print them. */
const key = (bytes: number) =>
  Joi.string()
    .pattern(/^[A-Za-z0-9_-]+$/)
    .length(Math.ceil((bytes * 4) / 3))
    .messages({ '*': `must be ${bytes} bytes in base64url` });

/** `<key id>:<raw Ed25519 public key in base64>`. */
const trustKey = Joi.string()
  .pattern(/^[\w.-]{1,64}:[A-Za-z0-9+/]{43}=$/)
  .messages({ 'string.pattern.base': 'must be a key id, a colon and the 32 bytes of an Ed25519 key in base64' });

/** The Joi rules, by variable. `.env.example` names exactly these. */
export const schema = Joi.object<Variables, true>({
  NODE_ENV: Joi.string().valid('development', 'test', 'production').default('development'),
  ROLE: Joi.string().valid('all', 'api', 'worker').default('all'),
  HOST: Joi.string().default('0.0.0.0'),
  PORT: number(0, 65535, 3000),
  PUBLIC_URL: url('http', 'https'),
  DATA_DIR: Joi.string().default('./data'),
  LOG_LEVEL: Joi.string().valid('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent').default('info'),
  // One hash more than processors, so that none waits for the next between two, and two threads for files and names.
  UV_THREADPOOL_SIZE: number(1, 1024, Math.max(4, availableParallelism() + 3)),
  SERVICE_VERSION: Joi.string().max(100).default('0.2.0'),
  TRUST_PROXY_HEADERS: flag(false),
  CORS_ORIGINS: list(origin),
  API_REQUIRE_IF_MATCH: flag(false),
  METRICS_TOKEN: Joi.string(),
  METRICS_PORT: Joi.number().integer().min(1).max(65535),
  DATABASE_URL: url('postgres', 'postgresql'),
  DATABASE_APP_URL: url('postgres', 'postgresql'),
  DATABASE_PLATFORM_URL: url('postgres', 'postgresql'),
  DATABASE_POOL_SIZE: number(1, 1000, 10),
  EMBEDDED_POSTGRES_PORT: number(0, 65535, 0),
  AUTO_MIGRATE: flag(true),
  REDIS_URL: url('redis', 'rediss'),
  WORKER_CONCURRENCY: number(1, 1000, 8),
  WEBHOOK_CONCURRENCY: number(2, 5000, 100),
  PLUGINS_ALLOW_UNSIGNED: flag(false),
  PLUGINS_TRUST_KEYS: list(trustKey),
  PLUGINS_SANDBOX: Joi.string().valid('auto', 'strict').default('auto'),
  PLUGINS_MAX_PROCESSES: number(1, 1000, 50),
  PLUGINS_IDLE_SECONDS: number(1, 3600, 60),
  WORKER_TENANT_CONCURRENCY: Joi.number().integer().min(1).max(1000),
  WORKER_TASK_CONCURRENCY: list(taskLimit),
  JWT_SECRET: secret(),
  APP_ENCRYPTION_KEY: secret(),
  SECRET_ENCRYPTION_KEY: Joi.string(),
  ENROLLMENT_KEY_PEPPER: Joi.string(),
  ENABLE_REGISTRATION: flag(true),
  ENABLE_2FA: flag(true),
  BOOTSTRAP_ADMIN_EMAIL: Joi.string().email({ tlds: false }).max(255),
  BOOTSTRAP_ADMIN_PASSWORD: Joi.string(),
  ENROLLMENT_KEY_DEFAULT_TTL_MINUTES: number(1, 525_600, 60),
  AGENT_ENROLLMENT_SECRET: Joi.string(),
  AGENT_LOG_RETENTION_DAYS: number(1, 3650, 7),
  EVENT_LOG_RETENTION_DAYS: number(1, 3650, 30),
  AGENT_SOCKETS_MAX: number(0, 1_000_000, 20_000),
  AGENT_PING_SECONDS: number(1, 300, 30),
  REMOTE_TOOL_WAIT_SECONDS: number(1, 300, 30),
  FILE_TRANSFER_MAX_BYTES: number(1, Number.MAX_SAFE_INTEGER, 4 * 1024 ** 3),
  BINARY_SOURCE: Joi.string().valid('github', 'local').default('github'),
  AGENT_BINARY_DIR: Joi.string(),
  AGENT_DOWNLOADS_MAX: number(1, 100_000, 100),
  AGENT_RELEASE_REPO: Joi.string()
    .pattern(/^[\w.-]{1,100}\/[\w.-]{1,100}$/)
    .messages({ 'string.pattern.base': 'must be owner/name' }),
  AGENT_RELEASE_API_URL: url('https', 'http').default('https://api.github.com'),
  AGENT_RELEASE_ASSET_HOSTS: list(
    Joi.string().hostname().messages({ 'string.hostname': 'must be a host name' }),
  ).default(['github.com', 'objects.githubusercontent.com', 'release-assets.githubusercontent.com']),
  AGENT_RELEASE_TOKEN: Joi.string(),
  AGENT_TRUST_KEYS: list(trustKey),
  AGENT_AUTO_PROMOTE: flag(true),
  AGENT_VERSION_SYNC: flag(false),
  MAIL_URL: url('smtp', 'smtps'),
  MAIL_FROM: Joi.string().max(320).default('Quartermaster <quartermaster@localhost>'),
  TWILIO_ACCOUNT_SID: Joi.string()
    .pattern(/^AC[0-9a-f]{32}$/)
    .messages({ 'string.pattern.base': 'must be AC and 32 hexadecimal digits' }),
  TWILIO_AUTH_TOKEN: Joi.string(),
  TWILIO_FROM: Joi.string()
    .pattern(/^(\+[1-9]\d{6,14}|MG[0-9a-f]{32})$/)
    .messages({ 'string.pattern.base': 'must be a number such as +14155550123, or the SID of a messaging service' }),
  TWILIO_API_URL: url('https', 'http').default('https://api.twilio.com'),
  VAPID_PUBLIC_KEY: key(65),
  VAPID_PRIVATE_KEY: key(32),
  VAPID_SUBJECT: Joi.string()
    .pattern(/^(mailto:[^@\s]+@[^@\s]+|https:\/\/\S+)$/)
    .messages({ 'string.pattern.base': 'must be mailto: and an address, or a URL that starts with https://' }),
  OUTBOUND_ALLOW_CIDRS: list(Joi.string().ip({ cidr: 'required' })),
  OUTBOUND_ALLOW_HTTP: flag(false),
  S3_ENDPOINT: url('http', 'https'),
  S3_REGION: Joi.string().max(100).default('us-east-1'),
  S3_BUCKET: Joi.string().min(3).max(63),
  S3_ACCESS_KEY_ID: Joi.string(),
  S3_SECRET_ACCESS_KEY: Joi.string(),
  S3_FORCE_PATH_STYLE: flag(false),
  MODULES_DISABLED: list(moduleName),
  MODULES_ENABLED: list(moduleName),
  PLANS_WITHOUT: list(planLack),
  MODULE_PACKAGES: list(packageName),
  MODULE_PACKAGES_DIR: Joi.string(),
});

/** Names of all variables, in the order in which they are described. */
export const variableNames: readonly string[] = Object.keys(schema.describe().keys as object);
