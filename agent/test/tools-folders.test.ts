/** The agent's folders, and the paths that are closed to all its file tools. */
import { link, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { listFolder } from '../src/tools/folders.ts';
import { linuxPlaces } from '../src/tools/linux/places.ts';
import { bodyOf, line, nobody } from './files-ground.ts';
import { never } from './recordings.ts';

test('a folder is listed with kinds, sizes and permissions, folders first and hidden files on request', async (t) => {
  const { folder } = await line(t, nobody);
  await writeFile(join(folder, 'b.txt'), 'four', { mode: 0o640 });
  await mkdir(join(folder, 'z'), { mode: 0o755 });
  await symlink('b.txt', join(folder, 'a-link'));
  await writeFile(join(folder, '.hidden'), '');
  const places = linuxPlaces([]);
  const list = await listFolder(places, { path: `${folder}/`, showHidden: false }, never);
  t.deepEqual(
    list.entries.map(({ name, type, size, permissions }) => ({ name, type, size, permissions })),
    [
      { name: 'z', type: 'directory', size: null, permissions: 'rwxr-xr-x' },
      { name: 'a-link', type: 'symlink', size: null, permissions: 'rwxrwxrwx' },
      { name: 'b.txt', type: 'file', size: 4, permissions: 'rw-r-----' },
    ],
  );
  t.like(list, { path: folder, truncated: false });
  t.is(list.entries[2]?.path, join(folder, 'b.txt'));
  const all = await listFolder(places, { path: folder, showHidden: true }, never);
  t.like(
    all.entries.find(({ name }) => name === '.hidden'),
    { hidden: true },
  );
  const root = await listFolder(places, { path: '', showHidden: false }, never);
  t.deepEqual([root.path, root.parent, root.entries[0]?.path], ['', null, '/']);
  t.is((await listFolder(places, { path: '/', showHidden: false }, never)).parent, '');
});

test('a folder of more than 5,000 entries is cut and says so', async (t) => {
  const { folder } = await line(t, nobody);
  for (let n = 0; n < 5_001; n += 100)
    await Promise.all(Array.from({ length: 100 }, (_, index) => writeFile(join(folder, `f${n + index}`), '')));
  const { entries, truncated } = await listFolder(linuxPlaces([]), { path: folder, showHidden: false }, never);
  t.deepEqual([entries.length, truncated], [5_000, true]);
});

test('paths that are not absolute, or lead upwards, or hold a NUL are refused for every tool', async (t) => {
  const { run } = await line(t, nobody);
  for (const path of ['etc', './x', '/tmp/../etc/passwd', '/tmp/..\\etc', '/tmp/a\0b', `/${'x'.repeat(2_050)}`])
    for (const type of ['file_list', 'file_read', 'file_write'])
      t.like(await run(type, { path }), { status: 'failed', result: { code: 'INVALID' } }, `${type} ${path}`);
});

test('what is missing, no folder or no file is named so', async (t) => {
  const { folder, run } = await line(t, nobody);
  await writeFile(join(folder, 'file'), 'x');
  const code = async (type: string, path: string) => (await run(type, { path })).result;
  t.deepEqual(await code('file_list', join(folder, 'nothing')), { code: 'NOT_FOUND' });
  t.deepEqual(await code('file_list', join(folder, 'file', 'below')), { code: 'NOT_FOUND' });
  t.like(await run('file_list', { path: join(folder, 'file') }), {
    result: { code: 'INVALID' },
    error: `${join(folder, 'file')} is a file, not a folder`,
  });
  t.deepEqual(await code('file_read', join(folder, 'nothing')), { code: 'NOT_FOUND' });
  t.deepEqual(await code('file_read', folder), { code: 'INVALID' });
  t.deepEqual(await code('file_write', folder), { code: 'INVALID' });
  t.deepEqual(await code('file_write', join(folder, 'no/such/folder')), { code: 'NOT_FOUND' });
});

test('the agent’s own files, their copies and the passwords of the system are closed, by whatever name', async (t) => {
  const { folder, run } = await line(t, nobody);
  await mkdir(join(folder, 'agent/state-commands'), { recursive: true });
  const state = join(folder, 'agent/state.json');
  await writeFile(state, '{}');
  await writeFile(join(folder, 'agent/state-commands/c.json'), '{}');
  await symlink(state, join(folder, 'link'));
  await symlink(join(folder, 'agent'), join(folder, 'folder-link'));
  const closed = [
    state,
    `${state}.1-1.tmp`,
    join(folder, 'agent/state-commands/c.json'),
    join(folder, 'agent/state-events.json'),
    join(folder, 'link'),
    join(folder, 'folder-link/state.json'),
    '/etc/shadow',
    '/etc/shadow-',
    '/etc/gshadow',
    `/proc/${process.pid}/environ`,
    '/proc/self/mem',
    '/proc/1/root/etc/shadow',
  ];
  for (const path of closed)
    for (const type of ['file_read', 'file_write'])
      t.like(await run(type, { path, overwrite: true }), { result: { code: 'DENIED' } }, `${type} ${path}`);
  t.is(await readFile(state, 'utf8'), '{}');
});

test('another name of a denied file is denied, and a neighbour with a longer name is not', async (t) => {
  const { folder, run } = await line(t, async (request, response) => {
    await bodyOf(request);
    response.end('{}');
  });
  const own = join(folder, 'agent/state');
  await mkdir(join(folder, 'agent'));
  await writeFile(own, 'secret');
  await link(own, join(folder, 'second-name'));
  await writeFile(join(folder, 'agent/statement.txt'), 'open');
  t.like(await run('file_read', { path: join(folder, 'second-name') }), { result: { code: 'DENIED' } });
  t.is((await run('file_read', { path: join(folder, 'agent/statement.txt') })).status, 'completed');
});

test('a hard link to any file of the agent is denied, as the agent names its files when it runs', async (t) => {
  const { folder, run } = await line(t, async (request, response) => {
    await bodyOf(request);
    response.end('{}');
  });
  await mkdir(join(folder, 'agent/state-commands'), { recursive: true });
  const files = ['state.json', 'state-update.json', 'state-commands/c.json'];
  for (const [index, name] of files.entries()) {
    await writeFile(join(folder, 'agent', name), 'secret');
    const other = join(folder, `other-${index}`);
    await link(join(folder, 'agent', name), other);
    t.like(await run('file_read', { path: other }), { result: { code: 'DENIED' } }, name);
    t.like(await run('file_write', { path: other, overwrite: true }), { result: { code: 'DENIED' } }, name);
  }
  await writeFile(join(folder, 'twice'), 'open');
  await link(join(folder, 'twice'), join(folder, 'twice-too'));
  t.is((await run('file_read', { path: join(folder, 'twice-too') })).status, 'completed');
});
