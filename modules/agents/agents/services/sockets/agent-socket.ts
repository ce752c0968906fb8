/** One connected agent: what it was sent and has not begun, whether it still answers, and how much it says. */

import { CLOSE } from '#agent-protocol';
import { AppError, type Context, errors, mustBeShapely, type SocketLink } from '#core';
import type { Apis } from '#core/contract';
import { toWire } from '../heartbeats.ts';
import type { SocketRole } from './connections.ts';
import { FrameBudget } from './frame-budget.ts';

export type Claimed = Awaited<ReturnType<Apis['device-commands']['pushCommands']>>[number];
export interface Frame {
  frame: string;
  [field: string]: unknown;
}
/** What the sockets of a process have in common. */
export interface Around {
  take(socket: AgentSocket, frame: string, body: unknown): Promise<void>;
  closed(socket: AgentSocket): void;
}

/** More than these would only wait in the agent, which runs eight at a time. */
const MOST_OUTSTANDING = 20;
/** A claim of so many may have left some. */
const FULL_CLAIM = 10;
/** Frames of one agent in work at the same time; then it is not read until some are done. */
const MOST_IN_WORK = 32;
const MOST_BUFFERED = 8 * 1024 * 1024;
const MOST_MALFORMED = 10;
/** Until a peer that does not say goodbye is cut off, in milliseconds. */
const FAREWELL_MS = 2_000;
/** What an agent may still say over a socket that was closed: results and starts count whoever carries them. */
const LAST_WORDS = new Set(['ack', 'command_result']);

export class AgentSocket {
  readonly link: SocketLink;
  readonly deviceId: string;
  readonly agentId: string;
  readonly orgId: string;
  readonly role: SocketRole;
  readonly tokenHash: string;
  readonly epoch: number;
  /** Milliseconds of the monotonic clock; 0 while no answer to a ping is due. */
  pingedAt = 0;
  nextPingAt = 0;
  beatAt = 0;
  progressAt = 0;
  /** When the token it came with ends; null for the current one. */
  tokenEnds: Date | null = null;
  configVersion: string | null = null;
  readonly #around: Around;
  readonly #budget = new FrameBudget(performance.now());
  #outstanding: Map<string, number> | null = null;
  #inWork = 0;
  #malformed = 0;
  #refusals: Set<string> | null = null;
  #pushing = false;
  #again = false;
  #held = false;
  #closing = false;

  constructor(
    link: SocketLink,
    who: Pick<AgentSocket, 'deviceId' | 'agentId' | 'orgId' | 'role' | 'tokenHash' | 'epoch'>,
    around: Around,
  ) {
    this.link = link;
    this.deviceId = who.deviceId;
    this.agentId = who.agentId;
    this.orgId = who.orgId;
    this.role = who.role;
    this.tokenHash = who.tokenHash;
    this.epoch = who.epoch;
    this.#around = around;
  }

  /** Begins to read; what came before has waited. */
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
      this.#around.closed(this);
    });
    socket.resume();
  }

  get open(): boolean {
    return !this.#closing && this.link.socket.readyState === this.link.socket.OPEN;
  }

  /** Frames are in work: until they are done an answer to a ping may not have been read. */
  get busy(): boolean {
    return this.#inWork > 0;
  }

  send(frame: Frame): void {
    if (!this.open) return;
    if (this.link.socket.bufferedAmount > MOST_BUFFERED) this.close(CLOSE.SLOW, 'slow');
    else this.link.socket.send(JSON.stringify(frame));
  }

  close(code: number, reason: string): void {
    if (this.#closing) return;
    this.send({ frame: 'close', code, reason });
    this.#closing = true;
    this.link.count(`closed_${code}`);
    this.link.socket.close(code, reason);
    setTimeout(() => this.link.socket.terminate(), FAREWELL_MS).unref();
  }

  /** Claims what waits for this agent and sends it; one at a time, and once more when asked meanwhile. */
  async push(): Promise<void> {
    this.#again = true;
    if (this.#pushing) return;
    this.#pushing = true;
    try {
      while (this.#again && this.open) {
        this.#again = false;
        this.#held = (this.#outstanding?.size ?? 0) >= MOST_OUTSTANDING;
        if (this.#held) break;
        const commands = await this.link.work((ctx) =>
          ctx.use('device-commands').pushCommands(this.deviceId, this.role, this.epoch),
        );
        this.deliver(commands);
        if (commands.length >= FULL_CLAIM) this.#again = true;
      }
    } catch {
      // They wait in their rows: the next beat takes them.
      this.link.count('push_failed');
    } finally {
      this.#pushing = false;
    }
  }

  /** Sends what was claimed; what cannot be sent goes back to the queue. */
  deliver(commands: readonly Claimed[]): void {
    const unsent: Claimed[] = [];
    for (const command of commands) {
      if (!this.open || this.link.socket.bufferedAmount > MOST_BUFFERED) {
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

  /** The agent has begun or ended it: it need not be taken back when the socket closes. */
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

  /** Counts what an agent had no business to say; the first of each kind leaves an audit entry too. */
  refuse(kind: string, details: object = {}): void {
    this.link.count(`refused_${kind}`);
    this.#refusals ??= new Set();
    if (this.#refusals.has(kind)) return;
    this.#refusals.add(kind);
    const entry = {
      result: 'denied' as const,
      resourceType: 'device',
      resourceId: this.deviceId,
      errorMessage: `A frame was refused: ${kind}`,
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
    else if (!this.#closing || LAST_WORDS.has(body.frame)) {
      const { frame, ...rest } = body;
      void this.#work(frame, isBinary ? data : rest);
    }
  }

  #refuseMalformed(): void {
    this.#malformed += 1;
    this.refuse('malformed');
    this.send({ frame: 'error', code: 'VALIDATION_ERROR', message: 'A frame is a JSON object with the text "frame"' });
    if (this.#malformed >= MOST_MALFORMED) this.close(CLOSE.MALFORMED, 'malformed');
  }

  async #work(frame: string, body: unknown): Promise<void> {
    this.#inWork += 1;
    if (this.#inWork === MOST_IN_WORK) this.link.socket.pause();
    try {
      await this.#around.take(this, frame, body);
    } catch (fault) {
      const error = fault instanceof AppError ? fault : errors.Unavailable();
      this.link.count(error.status < 500 ? 'refused_frame' : 'failed_frame');
      const { commandId } = body as { commandId?: unknown };
      this.send({ frame: 'error', of: frame, commandId, code: error.code, message: error.message });
    } finally {
      if (this.#inWork === MOST_IN_WORK) this.link.socket.resume();
      this.#inWork -= 1;
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
