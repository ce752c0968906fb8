/** A lean HTTP client for load: keep-alive connections, the body read and dropped. */
import { Agent, request as send } from 'node:http';

export interface Requests {
  send(
    method: 'GET' | 'POST' | 'PATCH' | 'PUT',
    path: string,
    headers: Record<string, string>,
    body?: string,
  ): Promise<number>;
  close(): Promise<void>;
}

/** node:http sends head and body in one packet; undici's two wait 40 ms for each other on some systems. */
export function request(base: string, connections: number): Requests {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const { hostname, port } = new URL(base);
  return {
    send: (method, path, headers, body) =>
      new Promise((resolve, reject) => {
        const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
        const sent = send({ agent, hostname, port, method, path, headers: { ...headers, ...length } }, (answer) => {
          answer.resume();
          answer.on('end', () => resolve(answer.statusCode ?? 0));
          answer.on('error', reject);
        });
        sent.on('error', reject);
        sent.end(body);
      }),
    close: async () => agent.destroy(),
  };
}
