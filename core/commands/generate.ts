/** `npm run generate`: writes openapi.json and migrations/schema.sql from the code; a test keeps both fresh. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dumpSchema } from '../database/dump.ts';
import { startEmbeddedServer } from '../database/embedded/server.ts';
import { migrate } from '../database/migrations.ts';
import { openDatabase } from '../database/pools.ts';
import { openapiText } from '../http/document/document.ts';
import { loadModules, migrationFolders, outgoingMessages, ROOT, routeTags } from '../loader/load.ts';

const modules = await loadModules();
await writeFile(
  join(ROOT, 'openapi.json'),
  openapiText(
    routeTags(modules),
    modules.map((loaded) => loaded.module),
    outgoingMessages(modules),
  ),
);
const dataDir = await mkdtemp(join(tmpdir(), 'quartermaster-generate-'));
const server = await startEmbeddedServer({ dataDir, log: () => undefined, settings: { fsync: 'off' } });
try {
  const database = openDatabase({ url: server.url, poolSize: 2, onError: () => undefined });
  await migrate(database.owner, migrationFolders(modules));
  await writeFile(join(ROOT, 'migrations', 'schema.sql'), await dumpSchema(database.owner));
  await database.close();
} finally {
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
}
process.stdout.write('openapi.json and migrations/schema.sql written\n');
