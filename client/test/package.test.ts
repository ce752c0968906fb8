/** The packed client in an empty folder: tools find nothing wrong, strict programs compile, both module systems run. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { CLIENT } from '../build/generated.ts';
import { compile, pack, run } from './packed.ts';

const packed = await pack();
test.after.always(() => packed.remove());
const tool = (path: string, args: string[]) =>
  run(process.execPath, [join(CLIENT, '..', 'node_modules', path), ...args, packed.tarball]);

const USE = `
async function use(client: Client): Promise<void> {
  const names: string[] = [];
  for await (const { hostname } of client.paginate('/devices', { query: { status: 'online' } })) names.push(hostname);
  const { data } = await client.get('/devices/{id}', { path: { id: names[0] ?? '' } });
  const made: string = (await client.post('/orgs/organizations', { body: { name: 'Contoso', slug: 'contoso' } })).id;
  for await (const site of client.paginate('/orgs/sites', { query: { orgId: made } })) console.log(site.name, data.hostname);
  for await (const entry of client.paginate('/audit-logs')) console.log(entry.action);
  for await (const { id } of client.stream('/audit-logs/stream')) console.log(id?.length);
  const csv: string = await client.get('/audit-logs/export');
  const file: ReadableStream<Uint8Array> = await client.get('/audit-logs/exports/{id}/download', { path: { id: made } });
  const { response } = await client.raw.GET('/orgs/sites/{id}', { params: { path: { id: made } } });
  console.log(csv, file, response.headers.get('etag'));
  // @ts-expect-error no such path
  await client.get('/device');
  // @ts-expect-error there is no POST
  await client.post('/devices', {});
  // @ts-expect-error the id is missing
  await client.get('/devices/{id}');
  // @ts-expect-error the name is missing
  await client.post('/orgs/organizations', { body: { slug: 'contoso' } });
  // @ts-expect-error not a sort order
  await client.get('/devices', { query: { sort: 'age' } });
  // @ts-expect-error not a list
  client.paginate('/auth/me');
  // @ts-expect-error not a stream
  client.stream('/devices');
}
void use;
const error: ErrorCode = 'NOT_FOUND';
// @ts-expect-error the API has no such code
const wrong: ErrorCode = 'NOT_THERE';
console.log(typeof createClient, typeof verifyWebhook, new ApiError(new Response('', { status: 503 }), '').code, error, wrong);
`;
const NAMES = 'ApiError, createClient, type Client, type ErrorCode, verifyWebhook';

test('publint and attw find nothing', async (t) => {
  t.timeout(600_000);
  const { stdout } = await tool('publint/src/cli.js', ['--strict']);
  t.regex(stdout, /All good!/);
  await t.notThrowsAsync(tool('@arethetypeswrong/cli/dist/index.js', []));
});

for (const [kind, lib, types] of [
  ['mts', ['es2023'], ['node']],
  ['cts', ['es2023'], ['node']],
  ['mts', ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'], []],
] as const) {
  test.serial(`a strict program compiles as .${kind} with ${[...lib, ...types].join(' ')}, and runs`, async (t) => {
    t.timeout(600_000);
    const name = `program.${kind}`;
    await writeFile(join(packed.folder, name), `import { ${NAMES} } from '@quartermaster/client';\n${USE}`);
    const options = { target: 'es2023', module: 'nodenext', strict: true, exactOptionalPropertyTypes: true };
    await writeFile(
      join(packed.folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: { ...options, lib, types }, files: [name] }),
    );
    t.is(await compile(packed.folder), '');
    const { stdout } = await run(process.execPath, [name.replace('ts', 'js')], { cwd: packed.folder });
    t.is(stdout, 'function function UNRECOGNIZED NOT_FOUND NOT_THERE\n');
  });
}
