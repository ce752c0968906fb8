/** Why no plugin runs here. */
import type { PluginSettings } from '../../../variables.ts';
import type { Walls } from './runner.ts';

export const NO_WALLS =
  'Plugins do not run on this server, because it cannot cut their processes off from the network: that takes Linux, the programs ' +
  'unshare, setpriv and prlimit, and the right to make namespaces (PLUGINS_SANDBOX=auto runs them without)';

/** Null where plugins may run behind these walls. */
export const missingWall = ({ network }: Walls, { sandbox }: Pick<PluginSettings, 'sandbox'>): string | null =>
  sandbox === 'strict' && network !== 'none' ? NO_WALLS : null;
