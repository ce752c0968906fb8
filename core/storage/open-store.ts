/** The store of an installation, by its configuration. */
import type { Services } from '../context/index.ts';
import { bucketStore } from './bucket-store.ts';
import { folderStore } from './folder-store.ts';
import type { ObjectStore, StoreArea, StoreKind } from './store.ts';

type Config = Pick<Services['config'], 'objectStorage' | 'dataDir'>;

/** The store that new objects of this area go to. */
export function openStore(config: Config, area: StoreArea): Promise<ObjectStore> {
  return openStoreOf(config, area, config.objectStorage ? 'bucket' : 'folder');
}

/** The store of that kind, to read what was put before the configuration changed. Rejects where no bucket is configured. */
export async function openStoreOf(config: Config, area: StoreArea, kind: StoreKind): Promise<ObjectStore> {
  if (kind === 'folder') {
    return folderStore(config.dataDir, area);
  }
  if (!config.objectStorage) throw new Error('S3_BUCKET is not set, and what is asked for was put into a bucket');
  return bucketStore(config.objectStorage, area);
}
