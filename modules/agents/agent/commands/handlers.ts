/** Which handler answers which type of command. */
import type { Handler } from './contract.ts';
import { failed } from './contract.ts';
import { POWER_COMMANDS, power } from './power.ts';
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

const uninstallAgent: Handler = async () => {
  return { status: 'completed', result: { uninstalling: true }, thenUninstall: true };
};

/** The handlers of the reference agent; anything else is answered `unknown command`. */
export const HANDLERS: ReadonlyMap<string, Handler> = new Map([
  ['refresh_inventory', refreshInventory],
  ['script', script],
  ['set_auto_update', setAutoUpdate],
  ['uninstall_agent', uninstallAgent],
  ['wake_on_lan', wakeOnLan],
  ...POWER_COMMANDS.map((type): [string, Handler] => [type, power(type)]),
]);
