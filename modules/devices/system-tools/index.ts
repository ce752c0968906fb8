/** Remote tools: processes, services, registry, event logs, tasks and files of a device, as they are now. */

import Joi from 'joi';
import {
  eventLogShape,
  fileList,
  keyShape,
  processDetail,
  processShape,
  serviceShape,
  taskRun,
  taskShape,
  valueShape,
} from '#agent-protocol/schemas';
import { defineModule } from '#core';
import { eventDetail, eventShape } from './models/event-log.ts';
import { upload } from './models/file.ts';
import { kill } from './models/process.ts';
import { keyCreate, valueWrite } from './models/registry.ts';
import { serviceChanged } from './models/service.ts';
import { taskChanged } from './models/task.ts';
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
  permissions: ['devices:read', 'devices:execute'],
  audits: [
    'device.kill_process',
    ...['device.start_service', 'device.stop_service', 'device.restart_service'],
    ...['device.set_registry_value', 'device.delete_registry_value'],
    ...['device.create_registry_key', 'device.delete_registry_key'],
    ...['device.run_scheduled_task', 'device.enable_scheduled_task', 'device.disable_scheduled_task'],
    ...['device.file.download', 'device.file_upload'],
  ],
  settings: Joi.object({
    remoteTools: Joi.array()
      .items(Joi.string().valid(...TOOL_GROUPS))
      .unique()
      .default([...TOOL_GROUPS]),
  }),
  start: startBell,
  schemas: {
    EventLog: eventLogShape,
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
    ScheduledTaskRun: taskRun,
    Service: serviceShape,
    ServiceChanged: serviceChanged,
    ToolPagination: toolPagination,
  },
});
