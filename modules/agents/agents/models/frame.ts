/** What travels over an agent's socket: JSON objects that name themselves in `frame`. */
import Joi from 'joi';
import { label, lenient, open, percent, text } from './wire-values.ts';

/** Bytes of a frame; a result has two streams of 5 MB at most. */
export const FRAME_BYTES = 16 * 1024 * 1024;

/** Why a server closes a socket. `AUTH` ends attempts for an hour, the others let the agent come back. */
export const CLOSE = {
  AUTH: 4001,
  REPLACED: 4002,
  /** Quarantined, decommissioned, or the tenant is not active: what is left to say is said by polling. */
  STATE: 4003,
  PONG: 4008,
  /** Too far behind in reading what it was sent. */
  SLOW: 4013,
  RATE: 4029,
  MOVED: 4040,
  MALFORMED: 4400,
} as const;

export const CAPABILITIES = ['heartbeat_ack', 'result_ack', 'progress', 'update_status'];

export const commandIdShape = Joi.string().uuid().required();

export interface ProgressFrame {
  commandId: string;
  percent?: number | null;
  message?: string | null;
}
export const progressFrame = open<ProgressFrame>({
  commandId: commandIdShape,
  percent: lenient(percent()),
  message: lenient(text(2000)),
});
export const updateFrame = open<{ targetVersion: string }>({ targetVersion: label(50).required() });
