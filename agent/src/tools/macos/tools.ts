/** The live tools of macOS. */
import { type Ask, askSystem } from '../../process/ask.ts';
import type { Tools } from '../contract.ts';
import { macosEventLogs } from './event-logs.ts';
import { macosFiles } from './files.ts';
import { macosProcesses } from './processes.ts';
import { macosServices } from './services.ts';
import { macosTasks } from './tasks.ts';

/** Every program is run by `ask`; `own` are the agent's files and folders, which no remote user may read or replace. */
export function macosTools(own: readonly string[], ask: Ask = askSystem): Tools {
  return {
    processes: macosProcesses(ask),
    services: macosServices(ask),
    eventLogs: macosEventLogs(ask),
    tasks: macosTasks(ask),
    registry: null,
    files: macosFiles(ask, own),
  };
}
