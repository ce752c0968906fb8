/** The socket of one agent: sends commands and tracks those that were not started, and limits what the agent sends. */

import { CLOSE } from '#agent-protocol';
import { AppError, type Context, errors, mustBeShapely, type SocketLink } from '#core';
import { type SentCommand, toWire } from '../heartbeats.ts';
import type { SocketRole } from './connections.ts';
import { FrameBudget } from './frame-budget.ts';

interface ClaimedCommand extends SentCommand {
  attempt: number;
}
export interface Frame {
  frame: string;
  [field: string]: unknown;
}
/** What a socket calls on the hub of its process. */
export interface SocketEvents {
  take(socket: AgentSocket, frame: string, body: unknown): Promise<void>;
  closed(socket: AgentSocket): void;
}

/** Maximum number of commands that were sent and not started. An agent runs eight at a time; more would only wait there. */
const MAX_OUTSTANDING = 20;
/** Number of commands in one claim; after a full claim more may be waiting. */
const FULL_CLAIM = 10;
/** Maximum number of frames of one agent that are processed concurrently. At the maximum the socket is not read. */
const MAX_IN_PROGRESS = 32;
const MAX_BUFFERED_BYTES = 8 * 1024 * 1024;
const MAX_MALFORMED = 10;
/** Milliseconds after which a socket is terminated whose peer does not answer the close frame. */
const CLOSE_TIMEOUT_MS = 2_000;
/** Frames that still count after the socket was closed, because starts and results count over any connection. */
const FRAMES_AFTER_CLOSE = new Set(['ack', 'command_result']);

export class AgentSocket {
  readonly link: SocketLink;
  readonly deviceId: string;
  readonly agentId: string;
  readonly orgId: string;
  readonly role: SocketRole;
  readonly tokenHash: string;
  readonly epoch: number;
  /** When the unanswered ping was sent, in milliseconds of the monotonic clock; 0 without one. */
  pingedAt = 0;
  nextPingAt = 0;
  heartbeatAt = 0;
  progressAt = 0;
  /** When the token of the connection expires; null for the current token. */
  tokenEnds: Date | null = null;
  configVersion: string | null = null;
  readonly #events: SocketEvents;
  readonly #budget = new FrameBudget(performance.now());
  #outstanding: Map<string, number> | null = null;
  #inProgress = 0;
  #malformed = 0;
  #refusedKinds: Set<string> | null = null;
  #pushing = false;
  #again = false;
  #held = false;
  #closing = false;

  constructor(
    link: SocketLink,
    who: Pick<AgentSocket, 'deviceId' | 'agentId' | 'orgId' | 'role' | 'tokenHash' | 'epoch'>,
    events: SocketEvents,
  ) {
    this.link = link;
    this.deviceId = who.deviceId;
    this.agentId = who.agentId;
    this.orgId = who.orgId;
    this.role = who.role;
    this.tokenHash = who.tokenHash;
    this.epoch = who.epoch;
    this.#events = events;
  }

  /** Starts to read the socket, which was paused. */
  listen(): void {
    const { socket } = this.link;
    socket.on('message', (data: Buffer, isBinary) => this.#receive(data, isBinary));
    socket.on('pong', () => {
      this.pingedAt = 0;
    });
    socket.once('close', () => {
      this.#closing = true;
      this.release([...(this.#outstanding ?? [])].map(([id, attempt]) => ({ id, attempt })));
      this.#outstanding = null;
      this.#events.closed(this);
    });
    socket.resume();
  }

  get open(): boolean {
    return !this.#closing && this.link.socket.readyState === this.link.socket.OPEN;
  }

  /** Frames are being processed, so the answer to a ping may not have been read yet. */
  get busy(): boolean {
    return this.#inProgress > 0;
  }

  send(frame: Frame): void {
    if (!this.open) return;
    if (this.link.socket.bufferedAmount > MAX_BUFFERED_BYTES) this.close(CLOSE.SLOW, 'slow');
    else this.link.socket.send(JSON.stringify(frame));
  }

  close(code: number, reason: string): void {
    if (this.#closing) return;
    this.send({ frame: 'close', code, reason });
    this.#closing = true;
    this.link.count(`closed_${code}`);
    this.link.socket.close(code, reason);
    setTimeout(() => this.link.socket.terminate(), CLOSE_TIMEOUT_MS).unref();
  }

  /** Claims waiting commands and sends them. Only one call runs at a time; a call during it makes it claim again. */
  async push(): Promise<void> {
    this.#again = true;
    if (this.#pushing) return;
    this.#pushing = true;
    try {
      while (this.#again && this.open) {
        this.#again = false;
        this.#held = (this.#outstanding?.size ?? 0) >= MAX_OUTSTANDING;
        if (this.#held) break;
        const commands = await this.link.work((ctx) =>
          ctx.use('device-commands').pushCommands(this.deviceId, this.role, this.epoch),
        );
        this.deliver(commands);
        if (commands.length >= FULL_CLAIM) this.#again = true;
      }
    } catch {
      // The commands stay in their rows until the next heartbeat.
      this.link.count('push_failed');
    } finally {
      this.#pushing = false;
    }
  }

  /** Sends claimed commands. Those that cannot be sent go back to the queue. */
  deliver(commands: readonly ClaimedCommand[]): void {
    const unsent: ClaimedCommand[] = [];
    for (const command of commands) {
      if (!this.open || this.link.socket.bufferedAmount > MAX_BUFFERED_BYTES) {
        unsent.push(command);
        continue;
      }
      this.#outstanding ??= new Map();
      this.#outstanding.set(command.id, command.attempt);
      this.link.socket.send(JSON.stringify({ frame: 'command', ...toWire(command) }), (fault) => {
        if (fault && this.#outstanding?.delete(command.id))
          this.release([{ id: command.id, attempt: command.attempt }]);
      });
    }
    this.release(unsent.map(({ id, attempt }) => ({ id, attempt, unsent: true })));
  }

  /** The agent has started or ended the command, so it does not go back to the queue when the socket closes. */
  settle(commandId: string): void {
    if (!this.#outstanding?.delete(commandId)) return;
    if (this.#outstanding.size === 0) this.#outstanding = null;
    if (this.#held) void this.push();
  }

  release(sent: readonly { id: string; attempt: number; unsent?: boolean }[]): void {
    if (sent.length === 0) return;
    this.link
      .work((ctx) => ctx.use('device-commands').releaseCommands(this.deviceId, sent))
      .catch(() => this.link.count('release_failed'));
  }

  /** Counts a frame that was denied. The first of each kind also writes an audit entry. */
  refuse(kind: string, details: object = {}): void {
    this.link.count(`refused_${kind}`);
    this.#refusedKinds ??= new Set();
    if (this.#refusedKinds.has(kind)) return;
    this.#refusedKinds.add(kind);
    const entry = {
      result: 'denied' as const,
      resourceType: 'device',
      resourceId: this.deviceId,
      errorMessage: `A frame was denied: ${kind}`,
      details: { kind, epoch: this.epoch, ...details },
    };
    void this.link.work(async (ctx: Context) => ctx.auditAttempt('agent.frame.refuse', entry)).catch(() => undefined);
  }

  #receive(data: Buffer, isBinary: boolean): void {
    this.pingedAt = 0;
    const body = isBinary ? { frame: 'binary' } : parse(data);
    if (!this.#budget.spend(body?.frame ?? '', performance.now())) {
      if (!this.#closing) this.refuse('rate');
      this.close(CLOSE.RATE, 'rate');
    } else if (!body) this.#refuseMalformed();
    else if (!this.#closing || FRAMES_AFTER_CLOSE.has(body.frame)) {
      const { frame, ...rest } = body;
      void this.#work(frame, isBinary ? data : rest);
    }
  }

  #refuseMalformed(): void {
    this.#malformed += 1;
    this.refuse('malformed');
    this.send({ frame: 'error', code: 'VALIDATION_ERROR', message: 'A frame is a JSON object with the text "frame"' });
    if (this.#malformed >= MAX_MALFORMED) this.close(CLOSE.MALFORMED, 'malformed');
  }

  async #work(frame: string, body: unknown): Promise<void> {
    this.#inProgress += 1;
    if (this.#inProgress === MAX_IN_PROGRESS) this.link.socket.pause();
    try {
      await this.#events.take(this, frame, body);
    } catch (fault) {
      const error = fault instanceof AppError ? fault : errors.Unavailable();
      this.link.count(error.status < 500 ? 'refused_frame' : 'failed_frame');
      const { commandId } = body as { commandId?: unknown };
      this.send({ frame: 'error', of: frame, commandId, code: error.code, message: error.message });
    } finally {
      if (this.#inProgress === MAX_IN_PROGRESS) this.link.socket.resume();
      this.#inProgress -= 1;
    }
  }
}

function parse(data: Buffer): Frame | null {
  try {
    const value: unknown = JSON.parse(data.toString());
    if (value === null || typeof value !== 'object' || Array.isArray(value)) return null;
    if (typeof (value as Frame).frame !== 'string') return null;
    mustBeShapely('frame', value);
    return value as Frame;
  } catch {
    return null;
  }
}
