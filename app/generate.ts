/** Writes openapi.json, docs/catalog.md and migrations/schema.sql from the code; tests keep them fresh. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dumpSchema } from '../core/database/dump.ts';
import { startEmbeddedServer } from '../core/database/embedded/server.ts';
import { migrate } from '../core/database/migrations.ts';
import { openDatabase } from '../core/database/pools.ts';
import { openapiText } from '../core/http/document/document.ts';
import { loadModules, migrationFolders, outgoingMessages, ROOT, routeTags } from '../core/loader/load.ts';
import { catalogOf } from './catalog.ts';

type Modules = Awaited<ReturnType<typeof loadModules>>;

export async function generateFiles(): Promise<void> {
  const modules = await loadModules();
  await writeFile(join(ROOT, 'openapi.json'), documentOf(modules));
  await writeFile(join(ROOT, 'docs', 'catalog.md'), catalogOf(modules));
  await writeFile(join(ROOT, 'migrations', 'schema.sql'), await schemaOf(modules));
  process.stdout.write('openapi.json, docs/catalog.md and migrations/schema.sql written\n');
}

const documentOf = (modules: Modules): string =>
  openapiText(
    routeTags(modules),
    modules.map((loaded) => loaded.module),
    outgoingMessages(modules),
  );

/** The schema that the migrations make in an empty database. */
async function schemaOf(modules: Modules): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'quartermaster-generate-'));
  const server = await startEmbeddedServer({ dataDir, log: () => undefined, settings: { fsync: 'off' } });
  try {
    const database = openDatabase({ url: server.url, poolSize: 2, onError: () => undefined });
    await migrate(database.owner, migrationFolders(modules));
    const schema = await dumpSchema(database.owner);
    await database.close();
    return schema;
  } finally {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
