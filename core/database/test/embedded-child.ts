/** A process of its own for the tests of the embedded server: starts one, says where, and stays until it is ended. */
import { startEmbeddedServer } from '../embedded/server.ts';

try {
  const server = await startEmbeddedServer({ dataDir: process.argv[2] ?? '', log: () => undefined });
  console.log(JSON.stringify({ url: server.url, port: server.port }));
  process.stdin.once('data', () => server.stop().then(() => process.exit(0)));
} catch (error) {
  console.log(JSON.stringify({ error: error instanceof Error ? `${error.name}: ${error.message}` : String(error) }));
}
