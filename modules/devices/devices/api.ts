/**
 * What other modules can call: `ctx.use('devices')`. Notice (`ctx.notify`, received by `StartServices.onNotice`):
 * `devices.changed` with the id of the device after every change of its lifecycle.
 */
import { type BoundApi, type Context, defineApi } from '#core';
import { checkedTags, tagKey } from './models/tag.ts';
import { confirmAutoUpdate, wishAutoUpdate } from './services/auto-updates.ts';
import { isOnline, mustExist, refusingPower } from './services/devices.ts';
import { heartbeat } from './services/heartbeats/heartbeats.ts';
import { goOffline } from './services/heartbeats/silences.ts';
import { beginUpdate, endUpdate } from './services/heartbeats/updates.ts';
import { hold, holdMany } from './services/holds.ts';
import { writeAgentValues } from './services/inventory/custom-values.ts';
import {
  submitDisks,
  submitHardware,
  submitNetwork,
  submitServices,
  submitSoftware,
} from './services/inventory/inventories.ts';
import { findNeighbour, readAddresses } from './services/inventory/network-addresses.ts';
import { noteAddresses, submitReport } from './services/inventory/reports.ts';
import { enroll } from './services/life/enrollments.ts';
import { identify } from './services/life/identities.ts';
import { takeProvision } from './services/life/provisions.ts';
import { quarantineSuspect } from './services/life/quarantines.ts';
import { countDevices } from './services/life/quotas.ts';
import { confirmUninstall, noteUninstallIntent } from './services/life/uninstalls.ts';
import { listPage } from './services/lists/device-pages.ts';
import { changeTags, renameTag } from './services/tags.ts';

export const api = defineApi({
  enroll,
  takeProvision,
  quarantine: quarantineSuspect,
  noteUninstallIntent,
  confirmUninstall,
  countDevices,
  heartbeat,
  goOffline,
  isOnline,
  refusingPower,
  beginUpdate,
  endUpdate,
  wishAutoUpdate,
  confirmAutoUpdate,
  submitHardware,
  submitNetwork,
  submitDisks,
  submitSoftware,
  submitServices,
  submitReport,
  noteAddresses,
  writeAgentValues,
  readAddresses,
  findNeighbour,
  identify,
  mustExist,
  hold,
  holdMany,
  listPage,
  /** The stored form of any text, for queries: lower case, one space between words. */
  tagKey: (_ctx: Context, text: string) => tagKey(text),
  /** The stored form of tags to be written. Throws VALIDATION_ERROR with the path of each invalid tag. */
  checkedTags: (_ctx: Context, given: readonly string[], path: string) => checkedTags(given, path),
  changeTags,
  renameTag,
});

declare module '#core/contract' {
  interface Apis {
    devices: BoundApi<typeof api>;
  }
}
