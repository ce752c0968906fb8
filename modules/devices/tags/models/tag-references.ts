/** The slot `tags.references`: whoever names tags as targets follows when one is renamed. */
import type { Context } from '#core';

export interface TagReference {
  type: 'device_group' | 'filter' | 'policy' | 'alert_rule' | 'automation' | 'maintenance_window' | 'deployment';
  id: string;
  name: string;
}
export interface TagReferences {
  /** What of the organization names the tag, in its stored form. Throws where the caller may not change it. */
  find(ctx: Context, orgId: string, tag: string): Promise<TagReference[]>;
  /** Names the other tag instead. Part of the transaction that renames it on the devices; may run twice. */
  rename(ctx: Context, orgId: string, from: string, to: string): Promise<void>;
}
