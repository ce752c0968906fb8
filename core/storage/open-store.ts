/** The stores of an installation, by its configuration. */
import { join } from 'node:path';
import type { Services } from '../context/index.ts';
import type { ObjectStorage } from './bucket-client.ts';
import { bucketStore } from './bucket-store.ts';
import { folderStore } from './folder-store.ts';
import type { ObjectStore } from './store.ts';

type Config = Pick<Services['config'], 'objectStorage' | 'dataDir'>;

/** Where releases of the agent lie in the bucket: `agents/<version>/<file>`. */
export const RELEASES_PREFIX = 'agents/';

/** Archives and checkpoints of the audit trail: in the bucket where one is configured, else in a folder of the data folder. */
export async function openArchive({ objectStorage, dataDir }: Config): Promise<ObjectStore> {
  return objectStorage ? bucketStore(objectStorage, '') : folderStore(join(dataDir, 'archive'));
}

/** Releases of the agent that an operator puts into the bucket. */
export const openReleases = (storage: ObjectStorage): Promise<ObjectStore> => bucketStore(storage, RELEASES_PREFIX);
