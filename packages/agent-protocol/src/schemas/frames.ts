/** The bodies of frames that agents send, beside heartbeats and results. */
import type { AgentFrames, Progress } from '../frames.ts';
import { commandIdShape } from './commands.ts';
import { label, lenient, open, percent, text } from './values.ts';

export const progressFrame = open<Progress>({
  commandId: commandIdShape,
  percent: lenient(percent()),
  message: lenient(text(2000)),
});
export const updateFrame = open<AgentFrames['update_status']>({ targetVersion: label(50).required() });
