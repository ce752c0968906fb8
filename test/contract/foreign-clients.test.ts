/** Clients made from the served document by strangers' tools: generated in an empty folder, strict, and every GET answered. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { compile, folderWith, pack, run } from '../../client/test/packed.ts';
import { expectedStatus, openReads, type Read, type Reads } from './fixtures/reads.ts';

interface Answered {
  template: string;
  status: number;
  type: string;
  text: string;
}
interface Operation {
  parameters: { name: string; in: string; schema: { type?: string } }[];
  responses: Record<string, { $ref?: string; content?: Record<string, unknown> }>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { responses: Record<string, { content: Record<string, unknown> }> };
}

let installation = {} as Reads;
let document = {} as Document;
test.before(async (t) => {
  t.timeout(600_000);
  installation = await openReads();
  document = (await installation.platform.call<Document>('GET', '/openapi.json')).body;
});
test.after.always(() => installation.stop?.());
const operationOf = ({ template }: Read): Operation => {
  const operation = document.paths[template]?.get;
  if (!operation) throw new Error(`the document has no GET ${template}`);
  return operation;
};
/** Parameters as a program has them: numbers where the document says so. */
function valuesOf(read: Read, place: 'path' | 'query'): string {
  const types = new Map(
    operationOf(read)
      .parameters.filter((one) => one.in === place)
      .map(({ name, schema }) => [name, schema?.type]),
  );
  const typed = Object.entries(read[place]).map(([name, value]) => [
    name,
    types.get(name) === 'integer' ? Number(value) : value,
  ]);
  return typed.length > 0 ? `${place}: ${JSON.stringify(Object.fromEntries(typed))},` : '';
}

/** A program that makes every request and tells what came back; `call` is one request in its source. */
const program = (head: string, call: (read: Read) => string) => `${head}
const answers: object[] = [];
async function seen(template: string, response: Response): Promise<void> {
  const type = response.headers.get('content-type') ?? '';
  // It has no end to wait for.
  const endless = type.includes('event-stream');
  if (endless) await response.body?.cancel();
  const text = endless ? '' : await response.text();
  answers.push({ template, status: response.status, type, text });
}
${installation.reads.map((read) => `${call(read)}\n`).join('')}
console.log(JSON.stringify(answers));
`;

async function walk(folder: string, source: string): Promise<Answered[]> {
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await writeFile(join(folder, 'program.ts'), source);
  const compilerOptions = { target: 'es2023', module: 'nodenext', strict: true, lib: ['es2023', 'dom'], types: [] };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
  const complaints = await compile(folder);
  if (complaints) throw new Error(complaints);
  const { stdout } = await run(process.execPath, ['program.js'], { cwd: folder, maxBuffer: 100_000_000 });
  return JSON.parse(stdout) as Answered[];
}

/** A status and a media type that the document declares, and a body of that type. */
function faults(answers: Answered[]): string[] {
  return installation.reads.flatMap((read) => {
    const label = `GET ${read.template}`;
    const answer = answers.find(({ template }) => template === read.template);
    if (!answer) return [`${label} was not made`];
    const { status, type, text } = answer;
    const declared = operationOf(read).responses[status];
    if (!declared) return [`${label} answered with ${status}, which is not declared`];
    const { content } = declared.$ref
      ? (document.components.responses[declared.$ref.split('/').at(-1) ?? ''] ?? {})
      : declared;
    const media = type.split(';')[0] ?? '';
    if (status !== 302 && !(media in (content ?? {})))
      return [`${label} answered with ${media}, which is not declared`];
    if (media === 'application/json') JSON.parse(text);
    return status === expectedStatus(installation, read.template) ? [] : [`${label} answered with ${status}: ${text}`];
  });
}

test('the requests are all GETs of the document', (t) => {
  const documented = Object.entries(document.paths).filter(([, { get }]) => get);
  t.deepEqual(installation.reads.map(({ template }) => template).sort(), documented.map(([path]) => path).sort());
});

test.serial(
  'openapi-typescript and openapi-fetch in an empty folder compile in strict mode and walk every GET',
  async (t) => {
    t.timeout(900_000);
    const folder = await folderWith([
      'openapi-fetch',
      'openapi-typescript-helpers',
      'openapi-typescript',
      'typescript',
    ]);
    t.teardown(() => rm(folder, { recursive: true }));
    const cli = join(folder, 'node_modules/openapi-typescript/bin/cli.js');
    await run(process.execPath, [cli, `${installation.platform.url}/api/v1/openapi.json`, '-o', 'schema.ts'], {
      cwd: folder,
    });
    const head = `import createClient from 'openapi-fetch';
import type { paths } from './schema.js';
const api = createClient<paths>({ baseUrl: '${installation.platform.url}/api/v1', redirect: 'manual' });`;
    const answers = await walk(
      folder,
      program(head, (read) => {
        const params = `params: { ${valuesOf(read, 'path')} ${valuesOf(read, 'query')} }`;
        const init = `{ ${params}, headers: ${JSON.stringify(read.headers)}, parseAs: 'stream' }`;
        // An error's body is read by openapi-fetch itself.
        return `{ const { error, response } = await api.GET('${read.template}', ${init});
  await seen('${read.template}', error === undefined ? response : new Response(JSON.stringify(error), response)); }`;
      }),
    );
    t.deepEqual(faults(answers), []);
    t.true((await readFile(join(folder, 'schema.ts'), 'utf8')).includes('export interface paths'));
  },
);

test.serial('the packed client in an empty folder compiles in strict mode and walks every GET', async (t) => {
  t.timeout(900_000);
  const packed = await pack();
  t.teardown(packed.remove);
  const head = `import { createClient } from '@quartermaster/client';
const responses: Response[] = [];
const client = createClient({
  baseUrl: '${installation.platform.url}',
  retries: { most: 0 },
  fetch: async (request) => {
    const response = await fetch(request);
    if (!response.headers.get('content-type')?.includes('event-stream')) responses.push(response.clone());
    else responses.push(new Response(null, response));
    return response;
  },
});
const refused = (fault: unknown) => (fault instanceof Error && fault.name === 'ApiError' ? undefined : Promise.reject(fault));
const leave = (body: unknown) => void (body instanceof ReadableStream && body.cancel());`;
  const answers = await walk(
    packed.folder,
    program(head, (read) => {
      const init = `{ ${valuesOf(read, 'path')} ${valuesOf(read, 'query')} headers: ${JSON.stringify(read.headers)} }`;
      return `await client.get('${read.template}', ${init}).then(leave, refused);
await seen('${read.template}', responses.pop() ?? Response.error());`;
    }),
  );
  t.deepEqual(faults(answers), []);
});
