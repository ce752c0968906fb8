/** The names of the live tools in the API document: the protocol's own schemas have none. */
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

export const wireSchemas = {
  EventLog: eventLogShape,
  FileList: fileList,
  Process: processShape,
  ProcessDetail: processDetail,
  RegistryKey: keyShape,
  RegistryValue: valueShape,
  ScheduledTask: taskShape,
  ScheduledTaskRun: taskRun,
  Service: serviceShape,
};
