/** Starts the services that the context offers: configuration, tokens, sealing, mail, SMS, HTTP client, counters. */
import { createMac } from '../auth/opaque-tokens.ts';
import { createTokenSigner } from '../auth/tokens.ts';
import type { Services } from '../context/index.ts';
import type { Counters } from '../counters/counters.ts';
import type { JobRegistry } from '../jobs/registry.ts';
import type { ModuleStates } from '../modules/states.ts';
import { createHttpClient } from '../outbound/http-client.ts';
import { createMailer } from '../outbound/mail.ts';
import { createSmsSender } from '../outbound/sms.ts';
import { settingsFaults } from '../settings/read.ts';
import { createSealer } from '../settings/seal.ts';
import type { PlatformOptions } from './options.ts';
import type { ProvidedServices } from './provided-services.ts';
import type { Stoppers } from './stoppers.ts';

export interface ServiceParts {
  counters: Counters;
  states: ModuleStates;
  registry: JobRegistry;
  provided: ProvidedServices;
}

export function startServices(
  { config, secrets }: PlatformOptions,
  { counters, states, registry, provided }: ServiceParts,
  stoppers: Stoppers,
): Services {
  const signer = createTokenSigner({ secret: secrets.jwtSecret });
  const mail = createMailer(config);
  stoppers.add('mail', () => mail.close());
  const http = createHttpClient(config.outbound);
  stoppers.add('the HTTP client', () => http.close());
  const settingsOf = new Map(states.all.map((module) => [module.name, module.settings]));
  return {
    config,
    enrollmentPepper: secrets.enrollmentPepper,
    signAccess: (claims, seconds) => signer.sign(claims, seconds),
    verifyAccess: (token) => signer.verify(token),
    mac: createMac(secrets.encryptionKey),
    seal: createSealer({ keys: [{ secret: secrets.encryptionKey }] }),
    mail,
    sms: createSmsSender(config, http),
    http,
    counters,
    get: (ref) => provided.get(ref),
    modules: states,
    tasks: () => registry.tasks(),
    settingsFaults(module, values) {
      const schema = settingsOf.get(module);
      return schema ? settingsFaults(schema, values) : null;
    },
  };
}
