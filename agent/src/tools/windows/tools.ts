/** The live tools of Windows. */
import { type Ask, askSystem } from '../../process/ask.ts';
import type { Tools } from '../contract.ts';
import { windowsEventLogs } from './event-logs.ts';
import { windowsFiles } from './files.ts';
import { windowsProcesses } from './processes.ts';
import { windowsRegistry } from './registry.ts';
import { windowsServices } from './services.ts';
import { windowsTasks } from './tasks.ts';

/** Every program is run by `ask`; `own` are the agent's files and folders, which no remote user may read or replace. */
export function windowsTools(own: readonly string[], ask: Ask = askSystem): Tools {
  return {
    processes: windowsProcesses(ask),
    services: windowsServices(ask),
    eventLogs: windowsEventLogs(ask),
    tasks: windowsTasks(ask),
    registry: windowsRegistry(ask),
    files: windowsFiles(ask, own),
  };
}
