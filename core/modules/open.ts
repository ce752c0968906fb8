/** Opens the states of the modules and their contributions, and keeps the states up to date by notices. */
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Config } from '#config';
import { type Contributions, type Given, openContributions } from './contributions.ts';
import { type Faults, MODULES_NOTICE, ModuleStates } from './states.ts';

interface Around {
  config: Config;
  /** The platform role's. */
  pool: pg.Pool;
  notices: { on(channel: string, listener: (payload: string) => void): void; onLost(listener: () => void): void };
  log: Logger;
  faults: Faults;
}

/** Resolves after the first attempt to read the switches, whether it succeeded or not. */
export async function openModules(
  given: Given,
  { config, pool, notices, log, faults }: Around,
): Promise<{ contributions: Contributions; states: ModuleStates }> {
  const manifests = given.map(({ module }) => module);
  const states = new ModuleStates(manifests, config, pool, log, faults);
  notices.on(MODULES_NOTICE, (payload) => states.heard(payload));
  notices.onLost(() => void states.refresh());
  await states.start();
  return { contributions: openContributions(given, states), states };
}
