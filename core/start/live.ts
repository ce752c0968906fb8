/** Starts the broadcasts between processes, and the caches that depend on them. */
import { Principals } from '../auth/principals.ts';
import type { Counters } from '../counters/counters.ts';
import { createCounters } from '../counters/create-counters.ts';
import type { Database } from '../database/pools.ts';
import { type Hints, openHints } from '../live/hints.ts';
import { type Notices, openNotices } from '../live/notices.ts';
import type { PlatformOptions } from './options.ts';
import type { Stoppers } from './stoppers.ts';

export interface StartedLive {
  notices: Notices;
  hints: Hints;
  counters: Counters;
  principals: Principals;
}

export async function startLive(
  { config, databaseUrl, log }: PlatformOptions,
  database: Database,
  stoppers: Stoppers,
): Promise<StartedLive> {
  const notices = await openNotices(databaseUrl, log);
  stoppers.add('notices', () => notices.close());
  const { redisUrl } = config;
  // Two installations may share a Redis server; the name of the database tells them apart.
  const prefix = `quartermaster:${new URL(databaseUrl).pathname.slice(1)}:`;
  const redis = redisUrl ? { url: redisUrl, channel: `${prefix}hints` } : null;
  const hints = openHints(database.platform, notices, log, redis);
  stoppers.add('hints', () => hints.close());
  const counters = createCounters({ redisUrl, prefix });
  stoppers.add('counters', () => counters.close());
  const principals = new Principals(database.platform);
  notices.on('principals', () => principals.forgetAll());
  notices.onLost(() => principals.forgetAll());
  return { notices, hints, counters, principals };
}
