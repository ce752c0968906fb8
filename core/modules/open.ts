/** Puts the states of the modules and their offers together, and follows the notices. */
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Config } from '#config';
import { type Given, type Offers, openOffers } from './offers.ts';
import { type Faults, MODULES_NOTICE, ModuleStates } from './states.ts';

interface Around {
  config: Config;
  /** The platform role's. */
  pool: pg.Pool;
  notices: { on(channel: string, listener: (payload: string) => void): void; onLost(listener: () => void): void };
  log: Logger;
  faults: Faults;
}

/** Resolves when the switches have been read, or could not be. */
export async function openModules(
  given: Given,
  { config, pool, notices, log, faults }: Around,
): Promise<Offers & { states: ModuleStates }> {
  const manifests = given.map(({ module }) => module);
  const states = new ModuleStates(manifests, config, pool, log, faults);
  notices.on(MODULES_NOTICE, (payload) => states.heard(payload));
  notices.onLost(() => void states.refresh());
  await states.start();
  return { ...openOffers(given, states), states };
}
