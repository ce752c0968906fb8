/** Keeps the agent connected: takes commands as they come, and carries beats, starts and results. */
import type { WebSocket } from 'ws';
import { type AgentConfig, CLOSE, type Command, type Frame } from '#agent-protocol';
import type { Dispatcher } from '../dispatcher.ts';
import { Backoff, pause, type Timing } from '../timing.ts';
import { RefusedError, UnreachableError } from './client.ts';
import type { Log } from './log.ts';
import type { Outbox } from './outbox.ts';
import type { Session } from './session.ts';

export type OpenSocket = (to: { agentId: string; token: string; timeoutMs: number }) => WebSocket;

export interface UplinkOptions {
  session: Session;
  outbox: Outbox;
  dispatcher: Dispatcher;
  timing: Timing;
  signal: AbortSignal;
  log: Log;
  openSocket?: OpenSocket;
}

/** After these close codes the agent waits for the longest pause before it reconnects. */
const WAIT_LONG: ReadonlySet<number> = new Set([CLOSE.REPLACED, CLOSE.STATE]);
const DEFAULT_PING_SECONDS = 30;
/** Refusals of the upgrade that polling will explain; the socket only waits. */
const REFUSED = new Set([401, 403, 410]);

interface Waiting {
  resolve(frame: Frame): void;
  reject(fault: Error): void;
}

export class Uplink {
  readonly #options: UplinkOptions;
  readonly #waiting = new Map<string, Waiting>();
  #socket: WebSocket | undefined;
  #connected = false;
  /** Why the last attempt ended: milliseconds that the next one should wait at least. */
  #atLeast = 0;
  #renewing = false;
  #heardAt = 0;
  #pingMs = DEFAULT_PING_SECONDS * 1000;

  constructor(options: UplinkOptions) {
    this.#options = options;
    options.session.over = (path, body) => this.#over(path, body);
  }

  get open(): boolean {
    return this.#connected;
  }

  /** Connects, and again after each loss with growing pauses, until the agent stops. */
  async keep(): Promise<void> {
    const { openSocket, session, signal, timing } = this.#options;
    if (!openSocket) return;
    const backoff = new Backoff(timing);
    while (!signal.aborted) {
      if (session.condition !== 'ok') {
        await pause(timing.backoffFirst, signal);
        continue;
      }
      this.#atLeast = 0;
      const begin = performance.now();
      const { agentId, tokens } = session.state;
      await this.#hold(openSocket({ agentId, token: tokens.authToken, timeoutMs: timing.request }));
      if (performance.now() - begin >= timing.stable) backoff.reset();
      const wait = this.#renewing ? 0 : backoff.next(this.#atLeast);
      this.#renewing = false;
      await pause(wait, signal);
    }
  }

  /** Connects anew with the tokens of now. */
  renew(): void {
    if (!this.#socket) return;
    this.#renewing = true;
    this.#socket.close(1000, 'renewed');
  }

  close(): void {
    this.#socket?.close(1000, 'stopped');
  }

  /** One connection from its opening to its end. */
  async #hold(socket: WebSocket): Promise<void> {
    this.#socket = socket;
    this.#heardAt = performance.now();
    const stop = () => setTimeout(() => socket.terminate(), this.#options.timing.farewell).unref();
    this.#options.signal.addEventListener('abort', stop, { once: true });
    // A connection that the network forgot looks open for ever.
    const watch = setInterval(() => {
      if (performance.now() - this.#heardAt > 2 * this.#pingMs + 10_000) socket.terminate();
    }, this.#pingMs).unref();
    await new Promise<void>((resolve) => {
      socket.on('message', (data) => this.#receive(String(data)));
      socket.on('unexpected-response', (request, { statusCode = 0, headers }) => {
        const asked = Number(headers['retry-after']) * 1000;
        this.#atLeast = REFUSED.has(statusCode) ? 5 * this.#options.timing.backoffMax : asked > 0 ? asked : 0;
        request.destroy();
        resolve();
      });
      socket.on('error', () => undefined);
      socket.on('close', (code) => {
        this.#judge(code);
        resolve();
      });
    });
    clearInterval(watch);
    this.#options.signal.removeEventListener('abort', stop);
    this.#connected = false;
    this.#socket = undefined;
    for (const { reject } of this.#waiting.values()) reject(new UnreachableError('the socket closed'));
    this.#waiting.clear();
  }

  #judge(code: number): void {
    const { timing, log, signal } = this.#options;
    if (code === CLOSE.AUTH) this.#atLeast = timing.refused;
    else if (WAIT_LONG.has(code)) this.#atLeast = timing.backoffMax;
    if (this.#connected && !signal.aborted && !this.#renewing)
      log(`The connection closed (${code}); polling meanwhile.`, 'warn');
  }

  #receive(text: string): void {
    this.#heardAt = performance.now();
    const frame = parse(text);
    if (!frame) return;
    const { session, dispatcher, outbox, log } = this.#options;
    switch (frame.frame) {
      case 'connected':
        this.#connected = true;
        if (typeof frame.pingSeconds === 'number' && frame.pingSeconds > 0) this.#pingMs = frame.pingSeconds * 1000;
        outbox.wake();
        return;
      case 'ping':
        this.#send({ frame: 'pong' });
        return;
      case 'command':
        dispatcher
          .accept([frame as unknown as Command])
          .catch((fault) => log(`A command could not be taken: ${String(fault)}`, 'error'));
        return;
      case 'config':
        void refreshConfig(session).catch(() => undefined);
        return;
      case 'heartbeat_ack':
        this.#take('heartbeat')?.resolve(frame);
        return;
      case 'ack_answer':
        this.#take(`commands/${String(frame.commandId)}/start`)?.resolve(frame);
        return;
      case 'result_ack':
        this.#take(`commands/${String(frame.commandId)}/result`)?.resolve(frame);
        return;
      case 'error':
        this.#take(frame.of === 'ack' ? `commands/${String(frame.commandId)}/start` : String(frame.of))?.reject(
          new UnreachableError(String(frame.message)),
        );
        return;
      // Others come from newer servers, or are said with the close that follows.
    }
  }

  #take(path: string): Waiting | undefined {
    const waiting = this.#waiting.get(path);
    this.#waiting.delete(path);
    return waiting;
  }

  #send(frame: Frame): void {
    if (this.#socket?.readyState === 1) this.#socket.send(JSON.stringify(frame));
  }

  /** The calls that have a frame; undefined for all others, and while there is no connection. */
  #over(path: string, body: unknown): Promise<unknown> | undefined {
    if (!this.#connected || this.#socket?.readyState !== 1 || this.#waiting.has(path)) return undefined;
    const [, commandId, what] = /^commands\/([^/]+)\/(start|result)$/.exec(path) ?? [];
    if (path === 'heartbeat') return this.#ask(path, { ...(body as object), frame: 'heartbeat' });
    if (what === 'start') return this.#ask(path, { frame: 'ack', commandId }).then(mustBegin);
    if (what === 'result') {
      return this.#ask(path, { ...(body as object), frame: 'command_result', commandId }).then(mustBeTaken);
    }
    return undefined;
  }

  async #ask(path: string, frame: Frame): Promise<Frame> {
    const { promise, resolve, reject } = Promise.withResolvers<Frame>();
    this.#waiting.set(path, { resolve, reject });
    const late = setTimeout(
      () => reject(new UnreachableError('no answer over the socket')),
      this.#options.timing.request,
    );
    try {
      this.#send(frame);
      return await promise;
    } finally {
      clearTimeout(late);
      this.#waiting.delete(path);
    }
  }
}

function parse(text: string): Frame | undefined {
  try {
    const frame = JSON.parse(text);
    return typeof frame?.frame === 'string' ? frame : undefined;
  } catch {
    return undefined;
  }
}

/** The refusals that HTTP would give: the server has ended the command, or never knew it. */
function mustBegin({ begun }: Frame): object {
  if (begun !== 'running') throw new RefusedError(409, 'INVALID_STATE', 'The command is not wanted any more', null, 0);
  return {};
}

function mustBeTaken({ success, status, code, message }: Frame): object {
  if (success === true) return {};
  throw new RefusedError(Number(status) || 500, String(code), String(message), null, 0);
}

async function refreshConfig(session: Session): Promise<void> {
  const { config, configVersion } = await session.call<{ config: AgentConfig; configVersion: string }>('GET', 'config');
  await session.change({ config: { ...session.state.config, ...config }, configVersion });
}
