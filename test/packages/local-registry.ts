/** An npm registry of this machine: the tarballs given, and what lies in our node_modules. So `npm install` needs no network. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { create, list } from 'tar';
import { ROOT } from '../../core/loader/load.ts';

interface Manifest {
  name: string;
  version: string;
  optionalDependencies?: Record<string, string>;
}
interface Source {
  manifest: Manifest;
  /** Writes the tarball. */
  send(to: ServerResponse): void;
}
const MODULES = join(ROOT, 'node_modules');

/** What the tarball's own package.json says. */
async function inTarball(file: string): Promise<Source> {
  const chunks: Buffer[] = [];
  await list({
    file,
    onReadEntry: (entry) => {
      if (entry.path === 'package/package.json') entry.on('data', (chunk: Buffer) => chunks.push(chunk));
    },
  });
  const manifest = JSON.parse(Buffer.concat(chunks).toString()) as Manifest;
  return { manifest, send: (to) => void to.end(readFileSync(file)) };
}

function inModules(name: string): Source | null {
  const folder = join(MODULES, name);
  if (!existsSync(join(folder, 'package.json'))) return null;
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
  // Of the variants for other systems only our own is here.
  const optional = Object.entries(manifest.optionalDependencies ?? {}).filter(([one]) =>
    existsSync(join(MODULES, one)),
  );
  return {
    manifest: { ...manifest, optionalDependencies: Object.fromEntries(optional) },
    send(to) {
      const names = readdirSync(folder).filter((one) => one !== 'node_modules');
      create({ cwd: folder, prefix: 'package', gzip: { level: 1 }, portable: true }, names).pipe(to);
    },
  };
}

export async function startRegistry(tarballs: readonly string[]): Promise<{ url: string; stop(): void }> {
  const own = await Promise.all(tarballs.map(inTarball));
  const find = (name: string) => own.find(({ manifest }) => manifest.name === name) ?? inModules(name);
  const server = createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? '').split('?')[0] ?? '').slice(1);
    const [name = '', isTarball] = path.startsWith('-/') ? [path.slice(2), true] : [path, false];
    const source = request.method === 'GET' ? find(name) : null;
    if (!source) return void response.writeHead(404).end('{}');
    if (isTarball) return source.send(response);
    const { version } = source.manifest;
    const dist = { tarball: `${url}/-/${name}` };
    const packument = { name, 'dist-tags': { latest: version }, versions: { [version]: { ...source.manifest, dist } } };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(packument));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}
