/** The live tools of a Linux machine. */
import type { Tools } from '../contract.ts';
import { type Ask, askLinux } from './ask.ts';
import { linuxEventLogs } from './event-logs/event-logs.ts';
import { linuxPlaces } from './places.ts';
import { linuxProcesses } from './processes/processes.ts';
import { linuxServices } from './services/services.ts';
import { linuxTasks } from './tasks/tasks.ts';

/** `root` is where the system's own files begin; another one than `/` is for trials. */
export function linuxTools(own: readonly string[], ask: Ask = askLinux, root = '/'): Tools {
  return {
    processes: linuxProcesses(ask),
    services: linuxServices(ask, root),
    eventLogs: linuxEventLogs(ask, root),
    tasks: linuxTasks(ask, root),
    registry: null,
    files: linuxPlaces(own),
  };
}
