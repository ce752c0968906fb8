/** The variables of the deployment itself; modules declare theirs. */
import { availableParallelism } from 'node:os';
import Joi from 'joi';
import { type ValuesOf, variable } from './rules.ts';

const { flag, list, number, oneOf, optionalNumber, postgresUrl, secret, text, textOr, url, urlOr } = variable;

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
const headerName = Joi.string()
  .lowercase()
  .pattern(/^[a-z0-9-]{1,64}$/)
  .messages({ 'string.pattern.base': 'must be the name of a header, such as x-forwarded-for' });
/** How many proxies stand one behind the other, or the address or network of one. */
const proxies = Joi.string()
  .ip({ cidr: 'optional' })
  .allow(...'123456789')
  .messages({ '*': 'must be a number from 1 to 9, an address, or a network such as 10.0.0.0/8' });
/** `<module>/<job>=<most at once>`. */
const taskLimit = Joi.string()
  .pattern(/^[a-z][a-z0-9-]*\/[a-z][a-z0-9-]*=[1-9]\d{0,2}$/)
  .messages({ 'string.pattern.base': 'must be a task, an equals sign and a number from 1 to 999' });

/** The rules by variable. `.env.example` describes each. */
/** Of this program; package.json says the same. */
export const VERSION = '0.2.0';

export const OWN = {
  NODE_ENV: oneOf(['development', 'test', 'production'], 'development'),
  ROLE: oneOf(['all', 'api', 'worker'], 'all'),
  HOST: textOr('0.0.0.0'),
  PORT: number(0, 65535, 3000),
  PUBLIC_URL: url('http', 'https'),
  DATA_DIR: textOr('./data'),
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info'),
  // One hash more than processors, so that none waits for the next between two, and two threads for files and names.
  UV_THREADPOOL_SIZE: number(1, 1024, Math.max(4, availableParallelism() + 3)),
  SERVICE_VERSION: textOr(VERSION, Joi.string().max(100)),
  TRUST_PROXY_HEADERS: flag(false),
  TRUSTED_PROXY_HEADER: textOr('x-forwarded-for', headerName),
  TRUSTED_PROXIES: list(proxies, ['1']),
  CORS_ORIGINS: list(origin),
  HTTP_CONNECTIONS_PER_SOURCE: number(0, 100_000, 500),
  API_REQUIRE_IF_MATCH: flag(false),
  API_TICKETS_AT_ONE_ADDRESS: flag(true),
  METRICS_TOKEN: text(),
  METRICS_PORT: optionalNumber(1, 65535),
  DATABASE_URL: postgresUrl(),
  DATABASE_APP_URL: postgresUrl(),
  DATABASE_PLATFORM_URL: postgresUrl(),
  DATABASE_POOL_SIZE: number(1, 1000, 10),
  EMBEDDED_POSTGRES_PORT: number(0, 65535, 0),
  AUTO_MIGRATE: flag(true),
  REDIS_URL: url('redis', 'rediss'),
  WORKER_CONCURRENCY: number(1, 1000, 8),
  WORKER_TENANT_CONCURRENCY: optionalNumber(1, 1000),
  WORKER_TASK_CONCURRENCY: list(taskLimit),
  JWT_SECRET: secret(),
  APP_ENCRYPTION_KEY: secret(),
  SECRET_ENCRYPTION_KEY: text(),
  ENROLLMENT_KEY_PEPPER: text(),
  ENABLE_REGISTRATION: flag(true),
  ENABLE_2FA: flag(true),
  BOOTSTRAP_ADMIN_EMAIL: text(Joi.string().email({ tlds: false }).max(255)),
  BOOTSTRAP_ADMIN_PASSWORD: text(),
  MAIL_URL: url('smtp', 'smtps'),
  MAIL_FROM: textOr('Quartermaster <quartermaster@localhost>', Joi.string().max(320)),
  TWILIO_ACCOUNT_SID: text(
    Joi.string()
      .pattern(/^AC[0-9a-f]{32}$/)
      .messages({ 'string.pattern.base': 'must be AC and 32 hexadecimal digits' }),
  ),
  TWILIO_AUTH_TOKEN: text(),
  TWILIO_FROM: text(
    Joi.string()
      .pattern(/^(\+[1-9]\d{6,14}|MG[0-9a-f]{32})$/)
      .messages({ 'string.pattern.base': 'must be a number such as +14155550123, or the SID of a messaging service' }),
  ),
  TWILIO_API_URL: urlOr('https://api.twilio.com', 'https', 'http'),
  OUTBOUND_ALLOW_CIDRS: list(Joi.string().ip({ cidr: 'required' })),
  OUTBOUND_ALLOW_HTTP: flag(false),
  S3_ENDPOINT: url('http', 'https'),
  S3_REGION: textOr('us-east-1', Joi.string().max(100)),
  S3_BUCKET: text(Joi.string().min(3).max(63)),
  S3_ACCESS_KEY_ID: text(),
  S3_SECRET_ACCESS_KEY: text(),
  S3_FORCE_PATH_STYLE: flag(false),
  MODULES_DISABLED: list(moduleName),
  MODULES_ENABLED: list(moduleName),
  PLANS_WITHOUT: list(planLack),
  MODULE_PACKAGES: list(packageName),
  MODULE_PACKAGES_DIR: text(),
};
export type OwnValues = ValuesOf<typeof OWN>;
