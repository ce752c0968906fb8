/** Free ports for servers that a test starts. */
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the range that Linux gives to outgoing connections: a port stays free while its server restarts. */
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
