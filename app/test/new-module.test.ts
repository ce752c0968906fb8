/** A module made from the example is a module: it loads under its own name. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { readModule } from '../../core/loader/read-module.ts';
import { newModule } from '../new-module.ts';

/** Inside the repository, so that the module finds #core. */
const modules = await mkdtemp(join(import.meta.dirname, 'modules-'));
test.after.always(() => rm(modules, { recursive: true }));

test('the new module loads with routes, job, event and contribution, and no word of the example is left', async (t) => {
  const files = await newModule('devices/bookmarks', modules);
  t.true(files.some((file) => file.endsWith('devices/bookmarks/models/bookmark.ts')));
  for (const file of files) t.notRegex(`${file}${await readFile(file, 'utf8')}`.replace(modules, ''), /note/i, file);
  const loaded = await readModule(join(modules, 'devices/bookmarks'));
  t.is(loaded.module.name, 'bookmarks');
  t.deepEqual(
    loaded.routes.map(({ value }) => `${value.method} ${value.path}`),
    [
      'GET /devices/{deviceId}/bookmarks',
      'POST /devices/{deviceId}/bookmarks',
      'DELETE /devices/{deviceId}/bookmarks/{bookmarkId}',
    ],
  );
  t.is(loaded.jobs.length, 1);
});

test('a name that cannot be used and a module that exists are refused', async (t) => {
  for (const place of ['bookmarks', 'devices/Bookmarks', 'devices/book-marks', 'devices/shelf', '../x/bookmarks']) {
    await t.throwsAsync(newModule(place, modules), { name: 'UsageError' }, place);
  }
  await newModule('devices/ledgers', modules);
  await t.throwsAsync(newModule('devices/ledgers', modules), { name: 'UsageError', message: /exists/ });
});
