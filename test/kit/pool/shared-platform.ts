/** A platform that was started once for the whole run and serves one test file after the other. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { createTokenSigner } from '../../../core/auth/tokens.ts';
import { connectClient } from '../client.ts';
import type { PlatformClient } from '../platform.ts';
import type { Answer, Lease, LeaseFault, Method, Request } from './messages.ts';

/** The way to the pool; it keeps the process alive only while an answer is awaited. */
class Line {
  private readonly socket: Socket;
  private readonly waiting = new Map<number, (answer: Answer) => void>();
  private asked = 0;

  private constructor(socket: Socket) {
    this.socket = socket;
  }

  /** Resolves when a platform is free for this file. */
  static async lease(env: Record<string, string>): Promise<{ line: Line; lease: Lease }> {
    const port = process.env.QUARTERMASTER_TEST_POOL;
    if (!port) throw new Error('start tests through `npm test -- <file>`: it brings the shared platforms');
    const socket = connect(Number(port), '127.0.0.1');
    const line = new Line(socket);
    const lines = createInterface({ input: socket });
    socket.write(`${JSON.stringify({ env })}\n`);
    const [first] = (await once(lines, 'line')) as [string];
    const lease = JSON.parse(first) as Lease | LeaseFault;
    if ('error' in lease) throw new Error(lease.error);
    lines.on('line', (text) => {
      const answer = JSON.parse(text) as Answer;
      line.waiting.get(answer.id)?.(answer);
    });
    socket.once('close', () => {
      for (const [id, answer] of line.waiting) answer({ id, error: 'the shared platform is gone' });
    });
    socket.unref();
    return { line, lease };
  }

  async ask(method: Method): Promise<Answer> {
    this.asked += 1;
    const request: Request = { id: this.asked, method };
    this.socket.ref();
    const answer = await new Promise<Answer>((resolve) => {
      this.waiting.set(request.id, resolve);
      this.socket.write(`${JSON.stringify(request)}\n`);
    });
    this.waiting.delete(request.id);
    if (this.waiting.size === 0) this.socket.unref();
    if (answer.error) throw new Error(answer.error);
    return answer;
  }

  close(): void {
    this.socket.destroy();
  }
}

/**
 * A platform in another process, for files that use HTTP, SQL and jobs only. Other files used it before: it holds their
 * tenants, so a test makes tenants of its own and asserts nothing about all tenants, the platform's own audit trail, all
 * jobs, or what is set for the whole instance. No other file uses it at the same time.
 * @param env variables on top of the kit's own; files with the same variables share platforms
 */
export async function sharedPlatform(env: Record<string, string> = {}): Promise<PlatformClient> {
  const { line, lease } = await Line.lease(env);
  const { jwtSecret, ...installation } = lease;
  const signer = createTokenSigner({ secret: jwtSecret });
  const { client, close } = connectClient({
    ...installation,
    signAccess: (claims, seconds) => signer.sign(claims, seconds),
    settle: async () => void (await line.ask('settle')),
  });
  return {
    ...client,
    runJobs: async () => void (await line.ask('runJobs')),
    async stop() {
      await close();
      const { faults = [] } = await line.ask('end');
      line.close();
      if (faults.length > 0) throw new Error(`not as the API document says: ${faults.join('; ')}`);
    },
  };
}
