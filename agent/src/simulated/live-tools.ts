/** The live tools of an invented device. */
import type { OsType } from '#agent-protocol';
import type { LiveTool } from './live/answers.ts';
import { eventTools } from './live/events.ts';
import { fileTools } from './live/files.ts';
import { processTools } from './live/processes.ts';
import { registryTools } from './live/registry.ts';
import { serviceTools } from './live/services.ts';
import { taskTools } from './live/tasks.ts';

/** By the names of the wire. Each device has its own: what is stopped, ended or written on one stays on the others. */
export const liveTools = (osType: OsType, hostname: string): ReadonlyMap<string, LiveTool> =>
  new Map(
    Object.entries({
      ...processTools(),
      ...serviceTools(osType),
      ...eventTools(hostname),
      ...taskTools(),
      ...registryTools(osType),
      ...fileTools(osType),
    }),
  );
