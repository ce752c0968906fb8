/** The agent's standing with the server: its state, its tokens, and what the last refusals mean. */
import { type Call, type CallOptions, RefusedError } from './client.ts';
import type { AgentState, StateStore } from './state.ts';

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
  readonly #log: (line: string) => void;
  /** Takes calls over the socket while there is one; undefined when it cannot, and the call goes over HTTP. */
  over: (path: string, body: unknown) => Promise<unknown> | undefined = () => undefined;

  constructor(call: Call, store: StateStore, state: AgentState, log: (line: string) => void) {
    this.#call = call;
    this.#log = log;
    this.#store = store;
    this.#state = state;
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
    const current = this.#state.tokens.authToken;
    const byside = token === undefined ? this.over(path, body) : undefined;
    if (byside) {
      try {
        return (await byside) as T;
      } catch (fault) {
        // A socket that broke meanwhile said nothing: everything that goes over it may be said twice.
        if (fault instanceof RefusedError && fault.status < 500) throw fault;
      }
    }
    try {
      const route = `/agents/${encodeURIComponent(this.#state.agentId)}/${path}`;
      return await this.#call<T>(method, route, { body, signal, token: token ?? current });
    } catch (fault) {
      // A refusal of a token that was replaced meanwhile, or of one that is only being tried, says nothing.
      const concernsUs = token === undefined && current === this.#state.tokens.authToken;
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
      if (this.#condition !== 'quarantined') this.#log('The device is quarantined; only heartbeats go on.');
      this.#condition = 'quarantined';
      this.#quarantinedAt = Date.now();
    }
  }
}
