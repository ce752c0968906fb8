/** Why a plugin does not run here. */
import type { Manifest } from '#plugin-sdk/host';
import type { PluginSettings } from '../../../variables.ts';
import type { Walls } from './runner.ts';

export const NO_JAIL =
  'there is no jail around the processes of plugins here: that takes Linux, the programs of util-linux (unshare, mount, setpriv, ' +
  'prlimit) and ldd, and the right to make namespaces';
export const NO_WALLS = `Plugins do not run on this server (PLUGINS_SANDBOX=jail), because ${NO_JAIL}`;
const NO_NODE =
  'The plugin needs Node itself (engine.runtime of its manifest), which this server does not allow (PLUGINS_NODE_RUNTIME)';

export const NO_WALL: Walls = {
  files: 'visible',
  network: 'visible',
  processes: 'visible',
  user: false,
  memory: false,
  calls: false,
};

export const isJailed = ({ files, network, processes }: Walls): boolean =>
  files === 'none' && network === 'none' && processes === 'none';

/** Null where plugins in the interpreter may run behind these walls. */
export const missingWall = (walls: Walls, { sandbox }: Pick<PluginSettings, 'sandbox'>): string | null =>
  sandbox === 'jail' && !isJailed(walls) ? NO_WALLS : null;

/** Null where this plugin may run: code on Node itself only where the operator allows it, and never without the jail. */
export function missingFor(
  { engine }: Pick<Manifest, 'engine'>,
  walls: Walls,
  settings: Pick<PluginSettings, 'sandbox' | 'nodeRuntime'>,
): string | null {
  if (engine.runtime !== 'node') return missingWall(walls, settings);
  if (!settings.nodeRuntime) return NO_NODE;
  return isJailed(walls) ? null : `The plugin needs Node itself, and ${NO_JAIL}`;
}
