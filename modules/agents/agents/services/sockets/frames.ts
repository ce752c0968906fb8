/** Processes the frames of agents, with the same rules as the requests over HTTP. */

import type { Progress, ReceivedHeartbeat, ReceivedResult } from '#agent-protocol';
import {
  commandIdShape,
  heartbeatBody,
  isPlainHeartbeat,
  progressFrame,
  resultBody,
  updateFrame,
} from '#agent-protocol/schemas';
import { AppError, errors } from '#core';
import { finish } from '../commands.ts';
import { answerHeartbeat } from '../heartbeats.ts';
import { tokenByHash } from '../tokens/authentication.ts';
import type { AgentSocket } from './agent-socket.ts';

type Take = (socket: AgentSocket, body: Record<string, unknown>) => Promise<void> | void;
/** Progress of an agent is stored at most once in this time, in milliseconds. */
const PROGRESS_MS = 500;

const FRAMES: Readonly<Record<string, Take>> = {
  pong: () => undefined,
  heartbeat: takeHeartbeat,
  ack: takeAck,
  command_result: takeResult,
  progress: takeProgress,
  update_status: takeUpdate,
};

/** Throws errors to send to the agent. Unknown frames come from newer agents and are only counted. */
export async function takeFrame(socket: AgentSocket, frame: string, body: unknown): Promise<void> {
  const take = Object.hasOwn(FRAMES, frame) ? FRAMES[frame] : undefined;
  if (take) return take(socket, body as Record<string, unknown>);
  const { deviceId, orgId, role, link } = socket;
  const taken = await link.work(async (ctx) => {
    const other = ctx.contributions('agents.frame').find((one) => one.frame === frame);
    await other?.take(ctx, { deviceId, orgId, role }, body);
    return other !== undefined;
  });
  if (!taken) link.count('unclaimed');
}

async function takeHeartbeat(socket: AgentSocket, body: Record<string, unknown>): Promise<void> {
  const heartbeat = isPlainHeartbeat(body) ? body : ((await heartbeatBody.validateAsync(body)) as ReceivedHeartbeat);
  socket.heartbeatAt = performance.now();
  const { answer, commands } = await socket.link.work(async (ctx) =>
    answerHeartbeat(ctx, await tokenByHash(ctx, socket.tokenHash), heartbeat, socket.epoch),
  );
  socket.configVersion = answer.configVersion;
  socket.send({ frame: 'heartbeat_ack', ...answer, commands: [] });
  socket.deliver(commands);
}

function commandIdOf(body: Record<string, unknown>): string {
  const { value, error } = commandIdShape.validate(body.commandId);
  if (error) throw errors.ValidationFailed('"commandId" must be the id of a command');
  return value;
}

async function takeAck(socket: AgentSocket, body: Record<string, unknown>): Promise<void> {
  const commandId = commandIdOf(body);
  const begun = await socket.link.work((ctx) =>
    ctx.use('device-commands').beginCommand(socket.deviceId, socket.role, commandId),
  );
  if (begun === 'running' || begun === 'ended') socket.settle(commandId);
  else socket.refuse('ack', { commandId });
  // An agent that receives `ended` or `unknown` in time does not run the command.
  socket.send({ frame: 'ack_answer', commandId, begun });
}

async function takeResult(socket: AgentSocket, body: Record<string, unknown>): Promise<void> {
  const commandId = commandIdOf(body);
  try {
    const { value, error } = resultBody.validate(body);
    if (error) throw errors.ValidationFailed(error.message);
    await socket.link.work((ctx) => finish(ctx, socket.role, commandId, value as ReceivedResult));
    socket.settle(commandId);
    socket.send({ frame: 'result_ack', commandId, success: true });
  } catch (fault) {
    const { status, code, message } = fault instanceof AppError ? fault : errors.Unavailable();
    // For a command that was never delivered, finish() has written the audit entry.
    socket.link.count(status < 500 ? 'refused_result' : 'failed_result');
    socket.send({ frame: 'result_ack', commandId, success: false, status, code, message });
  }
}

async function takeProgress(socket: AgentSocket, body: Record<string, unknown>): Promise<void> {
  const { value, error } = progressFrame.validate(body);
  if (error) throw errors.ValidationFailed(error.message);
  const { commandId, percent = null, message = null } = value as Progress;
  const now = performance.now();
  if (now - socket.progressAt < PROGRESS_MS && percent !== 100) return;
  socket.progressAt = now;
  const noted = await socket.link.work((ctx) =>
    ctx.use('device-commands').noteProgress(socket.deviceId, { commandId, percent, message }),
  );
  if (!noted) socket.link.count('refused_progress');
}

async function takeUpdate(socket: AgentSocket, body: Record<string, unknown>): Promise<void> {
  const { value, error } = updateFrame.validate(body);
  if (error) throw errors.ValidationFailed(error.message);
  if (socket.role !== 'agent') throw errors.Forbidden('Only the main agent updates itself');
  const { targetVersion } = value as { targetVersion: string };
  await socket.link.work((ctx) => ctx.use('devices').beginUpdate(socket.deviceId, targetVersion));
}
