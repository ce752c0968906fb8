/** A lean HTTP client for load: keep-alive connections, the body read and dropped. */
import { Agent, request as send } from 'undici';

export interface Requests {
  send(
    method: 'GET' | 'POST' | 'PATCH' | 'PUT',
    path: string,
    headers: Record<string, string>,
    body?: string,
  ): Promise<number>;
  close(): Promise<void>;
}

export function request(base: string, connections: number): Requests {
  const dispatcher = new Agent({ connections, pipelining: 1 });
  return {
    async send(method, path, headers, body) {
      const answer = await send(base + path, { dispatcher, method, headers, ...(body === undefined ? {} : { body }) });
      await answer.body.dump();
      return answer.statusCode;
    },
    close: () => dispatcher.close(),
  };
}
