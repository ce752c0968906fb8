/** Small objects as text. */
import { text } from 'node:stream/consumers';
import type { ObjectStore } from './store.ts';

/** The whole of an object as UTF-8. Rejects where there is none. */
export const readText = async (store: ObjectStore, key: string): Promise<string> => text(await store.read(key));
