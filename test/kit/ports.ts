/** Ports for what a test starts by itself. */
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those that Linux gives to outgoing connections: a port stays free while whoever had it starts again. */
const [LOWEST, HIGHEST] = [15_000, 32_000];

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    const probe = createServer();
    const free = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!free) continue;
    probe.close();
    await once(probe, 'close');
    return port;
  }
}
