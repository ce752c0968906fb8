/** Custom fields out of files: what scripts write is sent once, and again while the server does not take it. */
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { readValues } from '../src/custom-fields.ts';
import { bench, QUICK, temporaryFolder } from './harness.ts';

test('files named like a key are values; links, other names and long texts are none', async (t) => {
  const folder = await temporaryFolder(t);
  const write = (name: string, text: string) => writeFile(join(folder, name), text);
  await write('bios', ' F.21\n');
  await write('gone', '\n');
  await write('Not-a-key', 'x');
  await write('long', 'x'.repeat(10_001));
  await write('just', 'ä'.repeat(10_000));
  await mkdir(join(folder, 'folder'));
  if (process.platform !== 'win32') await symlink('/etc/hostname', join(folder, 'link'));
  const values = await readValues(folder);
  t.deepEqual([...values.keys()], ['bios', 'gone', 'just']);
  t.is(values.get('bios'), 'F.21');
  t.is(values.get('gone'), null);
  t.is((await readValues(join(folder, 'nowhere'))).size, 0);
  for (let n = 0; n < 120; n++) await write(`k${n}`, 'x');
  t.is((await readValues(folder)).size, 100);
});

test('a script leaves a value that the agent sends once; what is refused is sent again', async (t) => {
  const { server, folder, lines, run } = await bench(t);
  const customFields = join(folder, 'fields');
  await mkdir(customFields);
  await writeFile(join(customFields, 'owner'), 'me');
  const failed = [{ key: 'owner', code: 'NOT_EDITABLE', message: 'only users write it' }];
  server.before = ({ path, body }) =>
    path.endsWith('/custom-fields')
      ? { status: 200, body: { updated: [], failed: 'owner' in (body.values as object) ? failed : [] } }
      : undefined;
  server.queue.push({
    id: 'c1',
    type: 'script',
    payload: { language: 'sh', content: 'printf F.21 > "$CUSTOM_FIELDS/bios"' },
  });
  run({ customFields, timing: { ...QUICK, fields: 5, fieldRetry: 50 } });
  const sent = () => server.calls('/custom-fields').map(({ body }) => body.values as Record<string, string>);
  await server.until(() => sent().some(({ bios }) => bios === 'F.21'));
  const before = sent().filter(({ owner }) => owner === 'me').length;
  await server.until(() => sent().filter(({ owner }) => owner === 'me').length >= before + 2);
  t.is(sent().filter(({ bios }) => bios === 'F.21').length, 1);
  t.true(lines.some((line) => line.includes('The custom field owner was not taken: only users write it.')));
});

test('what could not be sent is sent when the server answers again', async (t) => {
  const { server, folder, run } = await bench(t);
  await writeFile(join(folder, 'bios'), 'F.21');
  let down = true;
  server.before = ({ path }) =>
    path.endsWith('/custom-fields')
      ? {
          status: down ? 503 : 200,
          body: down ? { error: { code: 'UNAVAILABLE', message: 'later' } } : { updated: ['bios'], failed: [] },
        }
      : undefined;
  run({ customFields: folder, timing: { ...QUICK, fields: 5 } });
  await server.until(() => server.calls('/custom-fields').length >= 2);
  down = false;
  const taken = await server.until(() => server.calls('/custom-fields').find(({ status }) => status === 200));
  t.deepEqual(taken.body, { values: { bios: 'F.21' } });
});
