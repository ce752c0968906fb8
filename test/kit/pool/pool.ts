/** Platforms for test files that need none of their own: a file leases one for itself and gives it back at its end. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Answer, Lease, LeaseFault, LeaseRequest, Method, Ready, Request } from './messages.ts';

/** A few more than test files run at once, so that files with other variables do not end each other's platforms. */
const MAX_HOSTS = 6;

/** A platform in a process of its own. */
class Host {
  readonly variables: string;
  readonly process: ChildProcess;
  readonly lease: Promise<Lease>;
  busy = true;
  private readonly waiting = new Map<number, (answer: Answer) => void>();
  private asked = 0;

  constructor(variables: string, env: NodeJS.ProcessEnv) {
    this.variables = variables;
    this.process = fork(join(import.meta.dirname, 'host.ts'), [variables], { env });
    this.lease = new Promise((resolve, reject) => {
      this.process.on('message', (message: Ready | Answer) => {
        if ('lease' in message) resolve(message.lease);
        else this.waiting.get(message.id)?.(message);
      });
      this.process.once('exit', (code) => {
        const error = `the shared platform ended with ${code}`;
        reject(new Error(error));
        for (const [id, answer] of this.waiting) answer({ id, error });
      });
    });
  }

  async request(method: Method): Promise<Answer> {
    this.asked += 1;
    const request: Request = { id: this.asked, method };
    if (!this.process.connected) return { id: request.id, error: 'the shared platform has ended' };
    try {
      return await new Promise<Answer>((resolve) => {
        this.waiting.set(request.id, resolve);
        this.process.send(request);
      });
    } finally {
      this.waiting.delete(request.id);
    }
  }

  async stop(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = once(this.process, 'exit');
    this.process.disconnect();
    await ended;
  }
}

/** Starts platforms when files ask for them, and lets each have one file at a time. */
class Hosts {
  private readonly env: NodeJS.ProcessEnv;
  private readonly hosts: Host[] = [];
  private readonly queue: (() => void)[] = [];

  constructor(env: NodeJS.ProcessEnv) {
    this.env = env;
  }

  /** A platform with these variables that no other file uses. */
  async take(variables: string): Promise<Host> {
    for (;;) {
      const idle = this.hosts.find((host) => !host.busy && host.variables === variables);
      if (idle) {
        idle.busy = true;
        return idle;
      }
      if (this.hosts.length < MAX_HOSTS || (await this.removeIdle())) return this.start(variables);
      await new Promise<void>((resolve) => this.queue.push(resolve));
    }
  }

  release(host: Host): void {
    host.busy = false;
    this.queue.shift()?.();
  }

  async stop(): Promise<void> {
    await Promise.all(this.hosts.splice(0).map((host) => host.stop()));
  }

  private start(variables: string): Host {
    const host = new Host(variables, this.env);
    this.hosts.push(host);
    host.process.once('exit', () => this.remove(host));
    return host;
  }

  private remove(host: Host): boolean {
    const place = this.hosts.indexOf(host);
    if (place >= 0) this.hosts.splice(place, 1);
    return place >= 0;
  }

  /** Makes room for a platform with other variables. */
  private async removeIdle(): Promise<boolean> {
    const idle = this.hosts.find((host) => !host.busy);
    if (!idle) return false;
    this.remove(idle);
    await idle.stop();
    return true;
  }
}

/** Serves one test file: its first line leases, each further line is a request. */
async function serve(socket: Socket, hosts: Hosts): Promise<void> {
  const say = (line: Lease | LeaseFault | Answer) => socket.writable && socket.write(`${JSON.stringify(line)}\n`);
  let host: Host | undefined;
  try {
    for await (const line of createInterface({ input: socket })) {
      if (!host) {
        const { env } = JSON.parse(line) as LeaseRequest;
        host = await hosts.take(JSON.stringify(Object.fromEntries(Object.entries(env).sort())));
        say(await host.lease);
        continue;
      }
      const request = JSON.parse(line) as Request;
      // Not awaited: several tests of a file may ask at once.
      void host.request(request.method).then((answer) => say({ ...answer, id: request.id }));
    }
  } catch (error) {
    say({ error: (error as Error).message });
    socket.end();
  } finally {
    if (host) {
      // Also after a file that died before it could.
      await host.request('end');
      hosts.release(host);
    }
  }
}

export interface PlatformPool {
  /** Where test files lease, on this machine. */
  port: number;
  stop(): Promise<void>;
}

/** @param env of the platform processes */
export async function openPool(env: NodeJS.ProcessEnv): Promise<PlatformPool> {
  const hosts = new Hosts(env);
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    void serve(socket, hosts);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      server.close();
      await hosts.stop();
    },
  };
}
