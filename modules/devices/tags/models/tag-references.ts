/** The slot `tags.references`: modules whose objects refer to tags update them when a tag is renamed. */
import type { Context } from '#core';

export interface TagReference {
  type: 'device_group' | 'filter' | 'policy' | 'alert_rule' | 'automation' | 'maintenance_window' | 'deployment';
  id: string;
  name: string;
}
export interface TagReferences {
  /** The objects of the organization that refer to the tag, given in its stored form. Throws if the caller may not change one. */
  find(ctx: Context, orgId: string, tag: string): Promise<TagReference[]>;
  /** Replaces the tag in them. Runs in the transaction that renames it on the devices; may run twice. */
  rename(ctx: Context, orgId: string, from: string, to: string): Promise<void>;
}
