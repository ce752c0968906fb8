/** Remote tools: processes, services, registry, event logs, tasks and files of a device, as they are now. */
import Joi from 'joi';
import { defineModule } from '#core';
import { eventDetail, eventShape, logShape } from './models/event-log.ts';
import { fileList, upload } from './models/file.ts';
import { kill, processDetail, processShape } from './models/process.ts';
import { keyCreate, keyShape, valueShape, valueWrite } from './models/registry.ts';
import { serviceChanged, serviceShape } from './models/service.ts';
import { runShape, taskChanged, taskShape } from './models/task.ts';
import { TOOL_GROUPS } from './models/tool.ts';
import { toolPagination } from './models/tool-routes.ts';
import { TOOL_TYPES } from './models/tools.ts';
import { startBell } from './services/transfers/bell.ts';

export default defineModule({
  name: 'system-tools',
  title: 'Remote tools',
  summary: 'Processes, services, registry, event logs, scheduled tasks and files of a connected device',
  requires: ['agents', 'devices', 'device-commands'],
  agentFeatures: ['remote_tools'],
  commands: [...TOOL_TYPES],
  settings: Joi.object({
    remoteTools: Joi.array()
      .items(Joi.string().valid(...TOOL_GROUPS))
      .unique()
      .default([...TOOL_GROUPS]),
  }),
  start: startBell,
  schemas: {
    EventLog: logShape,
    EventLogEntry: eventShape,
    EventLogEntryDetail: eventDetail,
    FileList: fileList,
    FileUpload: upload,
    Process: processShape,
    ProcessDetail: processDetail,
    ProcessKill: kill,
    RegistryKey: keyShape,
    RegistryKeyCreate: keyCreate,
    RegistryValue: valueShape,
    RegistryValueWrite: valueWrite,
    ScheduledTask: taskShape,
    ScheduledTaskChanged: taskChanged,
    ScheduledTaskRun: runShape,
    Service: serviceShape,
    ServiceChanged: serviceChanged,
    ToolPagination: toolPagination,
  },
});
