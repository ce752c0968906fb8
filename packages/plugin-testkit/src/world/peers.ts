/** The servers that a plugin talks to, as the test has them answer. */
import { HostError, MOST_BODY_BYTES, plainHeaders, requestTimeout } from '@quartermaster/plugin-sdk/host';
import type { FakeClock } from '../clock/fake-clock.ts';
import { asTest } from '../clock/plugin-globals.ts';

export interface PeerRequest {
  method: string;
  url: URL;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string;
  /** The body, read as JSON. */
  json(): unknown;
}
export interface PeerAnswer {
  /** 200 when absent. */
  status?: number;
  headers?: Record<string, string | string[]>;
  /** An object is sent as JSON. */
  body?: string | object;
  /** How long it takes, by the harness's clock. */
  afterMs?: number;
}
/** `'down'`: the host does not answer. */
export type Answering =
  | PeerAnswer
  | 'down'
  | ((request: PeerRequest) => PeerAnswer | 'down' | Promise<PeerAnswer | 'down'>);

interface Route {
  method: string;
  pattern: RegExp;
  answering: Answering;
}
interface Params {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  timeoutMs?: number;
}

export class Peers {
  /** Everything that was asked, in order. */
  readonly requests: PeerRequest[] = [];
  private routes: Route[] = [];
  private readonly clock: FakeClock;

  constructor(clock: FakeClock) {
    this.clock = clock;
  }

  /** @param route such as `POST https://api.example.com/tickets/*`, or without a method; the one given last counts */
  on(route: string, answering: Answering): this {
    const [, method = '*', url = ''] = /^(?:([A-Z*]+)\s+)?(\S+)$/.exec(route.trim()) ?? [];
    if (!url) throw new Error(`'${route}' is not a route: METHOD https://host/path, with * for any part`);
    const source = url.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
    this.routes.unshift({ method, pattern: new RegExp(`^${source.join('.*')}$`), answering });
    return this;
  }

  /** Forgets routes and requests. */
  reset(): void {
    this.routes = [];
    this.requests.length = 0;
  }

  /** @param mostMs of the invocation */
  async fetch(
    params: Params,
    mostMs: number,
  ): Promise<{ status: number; headers: Record<string, string>; body: string }> {
    const request = requestOf(params);
    this.requests.push(request);
    const given = await asTest(() => this.answerOf(request));
    if (given === 'down') throw new HostError('UPSTREAM_ERROR', `${request.url.host} does not answer`);
    const { status = 200, headers = {}, body = '', afterMs = 0 } = given;
    await this.wait(afterMs, requestTimeout(params.timeoutMs, mostMs), request.url.host);
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    if (Buffer.byteLength(text) > MOST_BODY_BYTES)
      throw new HostError('UPSTREAM_ERROR', `The answer is larger than ${MOST_BODY_BYTES} bytes`);
    const typed = typeof body === 'string' ? headers : { 'content-type': 'application/json', ...headers };
    return { status, headers: plainHeaders(lowered(typed)), body: text };
  }

  private async answerOf(request: PeerRequest): Promise<PeerAnswer | 'down'> {
    const { href, origin, pathname } = request.url;
    // With or without the query, as the route was written.
    const fits = ({ method, pattern }: Route) =>
      (method === '*' || method === request.method) && (pattern.test(href) || pattern.test(`${origin}${pathname}`));
    const route = this.routes.find(fits);
    if (!route)
      throw new HostError('UPSTREAM_ERROR', `The test has no answer to ${request.method} ${href}: harness.http.on(…)`);
    return typeof route.answering === 'function' ? route.answering(request) : route.answering;
  }

  private wait(afterMs: number, timeoutMs: number, host: string): Promise<void> | void {
    if (afterMs <= 0) return;
    return new Promise((resolve, reject) => {
      if (afterMs <= timeoutMs) this.clock.set(afterMs, resolve);
      else
        this.clock.set(timeoutMs, () =>
          reject(new HostError('UPSTREAM_ERROR', `${host} did not answer within ${timeoutMs} ms`)),
        );
    });
  }
}

const lowered = <V>(headers: Record<string, V>): Record<string, V> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

function requestOf({ url, method = 'GET', headers = {}, body = '' }: Params): PeerRequest {
  return { method, url: new URL(url), headers: lowered(headers), body, json: () => JSON.parse(body) as unknown };
}
