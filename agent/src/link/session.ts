/** The agent's standing with the server: its state, its tokens, and what the last refusals mean. */

import type { AgentState, StateStore } from '../store/state.ts';
import { type Call, type CallOptions, RefusedError, UnreachableError } from './client.ts';
import type { Log } from './log.ts';
import type { Transfers } from './transfer.ts';

/** `refused`: the token is not accepted; `quarantined`: only heartbeats are answered; `gone`: the device is no more. */
export type Condition = 'ok' | 'refused' | 'quarantined' | 'gone';

/** How long a quarantine is believed before the other routes are tried again. */
const QUARANTINE_MS = 300_000;

export class Session {
  readonly #call: Call;
  readonly #store: StateStore;
  #state: AgentState;
  #condition: Condition = 'ok';
  #quarantinedAt = 0;
  readonly #log: Log;
  readonly #transfers: Transfers | undefined;
  /** Takes calls over the socket while there is one; undefined when it cannot, and the call goes over HTTP. */
  over: (path: string, body: unknown) => Promise<unknown> | undefined = () => undefined;

  /** Without `transfers` the agent refuses to send and take files. */
  constructor(call: Call, store: StateStore, state: AgentState, log: Log, transfers?: Transfers) {
    this.#call = call;
    this.#log = log;
    this.#store = store;
    this.#state = state;
    this.#transfers = transfers;
  }

  get state(): AgentState {
    return this.#state;
  }

  get condition(): Condition {
    return this.#condition;
  }

  /** Changes the state, on disk first. */
  async change(change: Partial<AgentState>): Promise<void> {
    const next = { ...this.#state, ...change };
    await this.#store.write(next);
    this.#state = next;
  }

  /** Takes over what another process wrote; not for whoever changes the state himself. False where there is none any more. */
  async reread(): Promise<boolean> {
    const state = await this.#store.read();
    if (state) this.#state = state;
    return state !== undefined;
  }

  /** Deletes the state: the agent no longer knows who it was. */
  async forget(): Promise<void> {
    await this.#store.remove();
  }

  /** A call below `/agents/:agentId/`; refusals that concern the whole agent change `condition` before they throw. */
  async call<T>(
    method: 'GET' | 'POST' | 'PUT',
    path: string,
    body?: unknown,
    { token, signal }: Pick<CallOptions, 'token' | 'signal'> = {},
  ): Promise<T> {
    const byside = token === undefined ? this.over(path, body) : undefined;
    if (byside) {
      try {
        return (await byside) as T;
      } catch (fault) {
        // A socket that broke meanwhile said nothing: everything that goes over it may be said twice.
        if (fault instanceof RefusedError && fault.status < 500) throw fault;
      }
    }
    return this.#judged(token, (valid) => this.#call<T>(method, this.#route(path), { body, signal, token: valid }));
  }

  /** Streams a file that the command asked for to the server (wire of file transfers); the caller limits its time. */
  async sendContent(
    commandId: string,
    content: { size: number; parts: AsyncIterable<Buffer> },
    { signal, onProgress }: { signal: AbortSignal; onProgress: () => void },
  ): Promise<void> {
    const headers = { 'x-file-size': String(content.size) };
    await this.#judged(undefined, (token) =>
      this.#line().put(this.#route(`transfers/${commandId}`), content.parts, { token, signal, headers, onProgress }),
    );
  }

  /** The content of a file that the command brings, as it arrives. */
  async fetchContent(commandId: string, signal: AbortSignal): ReturnType<Transfers['get']> {
    return this.#judged(undefined, (token) =>
      this.#line().get(this.#route(`transfers/${commandId}`), { token, signal }),
    );
  }

  #line(): Transfers {
    if (!this.#transfers) throw new UnreachableError('this agent does not transfer files');
    return this.#transfers;
  }

  #route(path: string): string {
    return `/agents/${encodeURIComponent(this.#state.agentId)}/${path}`;
  }

  /** Does it with the token given, else that of now, and learns from refusals that concern the whole agent. */
  async #judged<T>(given: string | undefined, work: (token: string) => Promise<T>): Promise<T> {
    const current = this.#state.tokens.authToken;
    try {
      return await work(given ?? current);
    } catch (fault) {
      // A refusal of a token that was replaced meanwhile, or of one that is only being tried, says nothing.
      const concernsUs = given === undefined && current === this.#state.tokens.authToken;
      if (fault instanceof RefusedError && (concernsUs || fault.code === 'DEVICE_GONE')) this.#judge(fault);
      throw fault;
    }
  }

  /** A heartbeat was answered: the token is good, and an old quarantine may be over. */
  heard(): void {
    if (this.#condition === 'quarantined' && Date.now() - this.#quarantinedAt < QUARANTINE_MS) return;
    if (this.#condition !== 'gone') this.#condition = 'ok';
  }

  #judge({ status, code }: RefusedError): void {
    if (status === 410 && code === 'DEVICE_GONE') this.#condition = 'gone';
    else if (status === 401) this.#condition = 'refused';
    else if (status === 403 && code.toLowerCase() === 'device_quarantined') {
      if (this.#condition !== 'quarantined') this.#log('The device is quarantined; only heartbeats go on.', 'warn');
      this.#condition = 'quarantined';
      this.#quarantinedAt = Date.now();
    }
  }
}
