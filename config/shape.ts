/** Makes the configuration of the program from the values of the variables. */
import type { Environment } from './environment.ts';
import type { OwnValues } from './own.ts';
import { type Config, ENVIRONMENT } from './types.ts';

/** @param given the environment, for the variables of modules */
export function toConfig(v: OwnValues, given: Environment): Config {
  const { BOOTSTRAP_ADMIN_EMAIL: email, BOOTSTRAP_ADMIN_PASSWORD: password } = v;
  return {
    [ENVIRONMENT]: given,
    environment: v.NODE_ENV,
    production: v.NODE_ENV === 'production',
    role: v.ROLE,
    version: v.SERVICE_VERSION,
    threadPoolSize: v.UV_THREADPOOL_SIZE,
    logLevel: v.LOG_LEVEL,
    dataDir: v.DATA_DIR,
    http: httpOf(v),
    database: {
      url: v.DATABASE_URL,
      appUrl: v.DATABASE_APP_URL,
      platformUrl: v.DATABASE_PLATFORM_URL,
      poolSize: v.DATABASE_POOL_SIZE,
      embeddedPort: v.EMBEDDED_POSTGRES_PORT,
      autoMigrate: v.AUTO_MIGRATE,
    },
    redisUrl: v.REDIS_URL,
    workers: workersOf(v),
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
    mail: { url: v.MAIL_URL, from: v.MAIL_FROM },
    sms: { twilio: twilioOf(v) },
    outbound: { allowCidrs: v.OUTBOUND_ALLOW_CIDRS, allowHttp: v.OUTBOUND_ALLOW_HTTP },
    objectStorage: objectStorageOf(v),
    modules: {
      disabled: v.MODULES_DISABLED,
      enabled: v.MODULES_ENABLED,
      plansWithout: byPlan(v.PLANS_WITHOUT),
      packages: [...new Set(v.MODULE_PACKAGES)],
      packagesDir: v.MODULE_PACKAGES_DIR,
    },
  };
}

const httpOf = (v: OwnValues): Config['http'] => ({
  host: v.HOST,
  port: v.PORT,
  publicUrl: (v.PUBLIC_URL ?? `http://localhost:${v.PORT}`).replace(/\/+$/, ''),
  proxies: v.TRUST_PROXY_HEADERS ? proxiesOf(v) : undefined,
  corsOrigins: v.CORS_ORIGINS,
  connectionsPerSource: v.HTTP_CONNECTIONS_PER_SOURCE,
  requireIfMatch: v.API_REQUIRE_IF_MATCH,
  ticketsAtOneAddress: v.API_TICKETS_AT_ONE_ADDRESS,
  metricsToken: v.METRICS_TOKEN,
  metricsPort: v.METRICS_PORT,
});

function proxiesOf({ TRUSTED_PROXY_HEADER: header, TRUSTED_PROXIES: given }: OwnValues): Config['http']['proxies'] {
  const [first = ''] = given;
  if (/^\d$/.test(first)) return { header, trusted: Number(first) };
  return { header, trusted: given.map((one) => (one.includes('/') ? one : `${one}/${one.includes(':') ? 128 : 32}`)) };
}

const workersOf = (v: OwnValues): Config['workers'] => ({
  concurrency: v.WORKER_CONCURRENCY,
  tenantConcurrency: v.WORKER_TENANT_CONCURRENCY ?? Math.max(1, Math.floor(v.WORKER_CONCURRENCY * 0.75)),
  tenantStrict: v.WORKER_TENANT_CONCURRENCY !== undefined,
  taskConcurrency: Object.fromEntries(
    v.WORKER_TASK_CONCURRENCY.map((text) => {
      const [task = '', limit] = text.split('=');
      return [task, Number(limit)];
    }),
  ),
});

function objectStorageOf(v: OwnValues): Config['objectStorage'] {
  const { S3_BUCKET: bucket, S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = v;
  if (!bucket || !accessKeyId || !secretAccessKey) return undefined;
  return {
    endpoint: v.S3_ENDPOINT,
    region: v.S3_REGION,
    bucket,
    accessKeyId,
    secretAccessKey,
    forcePathStyle: v.S3_FORCE_PATH_STYLE,
  };
}

function twilioOf(v: OwnValues): Config['sms']['twilio'] {
  const { TWILIO_ACCOUNT_SID: accountSid, TWILIO_AUTH_TOKEN: authToken, TWILIO_FROM: from } = v;
  if (!accountSid || !authToken || !from) return undefined;
  return { accountSid, authToken, from, apiUrl: v.TWILIO_API_URL.replace(/\/+$/, '') };
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
