/** The slot `plugins.usage`: the objects that refer to a plugin. A plugin in use is not removed. */
import type { Context } from '#core';

export interface PluginUser {
  /** The kind of object, such as `alertChannel`. */
  kind: string;
  id: string;
  name: string;
}
export interface PluginUsage {
  /** Runs within the transaction of the removal; the first hundred are enough. */
  of(ctx: Context, plugin: { orgIds: readonly string[]; slug: string }): Promise<PluginUser[]>;
}
