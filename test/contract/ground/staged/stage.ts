/** A call that succeeds once what it needs has been arranged. */
import type { TestPlatform } from '#test';

export interface Staged {
  /** Where the call goes, when not to the platform that all others go to. */
  at?: TestPlatform;
  path: string;
  body?: unknown;
  token?: string;
  headers?: Record<string, string>;
}
/** By operation. */
export type Stages = Record<string, () => Promise<Staged>>;
