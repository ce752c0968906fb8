/** Which handler answers which type of command. */
import { LOG_LEVELS, MAX_LOG_LEVEL_MINUTES, POWER_COMMANDS } from '#agent-protocol';
import type { Handler } from './contract.ts';
import { failed } from './contract.ts';
import { power } from './power.ts';
import { script } from './script.ts';
import { wakeOnLan } from './wake.ts';

const refreshInventory: Handler = async (_payload, host, { signal }) => {
  const stopped = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('agent stopped while the command ran')), { once: true });
  });
  return { status: 'completed', result: await Promise.race([host.refreshInventory(), stopped]) };
};

const setAutoUpdate: Handler = async (payload, host) => {
  if (typeof payload.enabled !== 'boolean') return failed('payload.enabled must be true or false');
  await host.setAutoUpdate(payload.enabled);
  return { status: 'completed', result: { enabled: payload.enabled } };
};

const updateAgent: Handler = async (payload, host) => {
  if (!host.updateAgent) return failed('this agent runs from its sources, or no service would start it again');
  const version = await host.updateAgent(typeof payload.version === 'string' ? payload.version : undefined);
  return { status: 'completed', result: version === undefined ? { upToDate: true } : { updatingTo: version } };
};

/** More of the agent's own lines than warnings, for an hour unless told otherwise. */
const setLogLevel: Handler = async ({ level, durationMinutes = 60 }, host) => {
  const known = LOG_LEVELS.find((word) => word === level);
  if (!known) return failed(`payload.level must be one of ${LOG_LEVELS.join(', ')}`);
  const minutes = Number.isInteger(durationMinutes) ? Number(durationMinutes) : -1;
  if (minutes < 0 || minutes > MAX_LOG_LEVEL_MINUTES)
    return failed(`payload.durationMinutes must be a whole number from 0 to ${MAX_LOG_LEVEL_MINUTES}`);
  host.setLogLevel(known, minutes);
  return { status: 'completed', result: { level: known, durationMinutes: minutes } };
};

/** What remains after a fault is named in the error; the agent goes on, so that the command can be repeated. */
const uninstallAgent: Handler = async (_payload, host, { signal }) => {
  const removed = (await host.remove?.(signal)) ?? [];
  return { status: 'completed', result: { removed }, thenUninstall: true };
};

/** The handlers of the reference agent; anything else is answered `unknown command`. */
export const HANDLERS: ReadonlyMap<string, Handler> = new Map([
  ['refresh_inventory', refreshInventory],
  ['script', script],
  ['set_auto_update', setAutoUpdate],
  ['set_log_level', setLogLevel],
  ['uninstall_agent', uninstallAgent],
  ['update_agent', updateAgent],
  ['wake_on_lan', wakeOnLan],
  ...POWER_COMMANDS.map((type): [string, Handler] => [type, power(type)]),
]);
