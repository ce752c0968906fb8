/** Faults in modules stop the start and name the file. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import test from 'ava';
import { readConfig } from '#config';
import { PackageFaults } from '../faults.ts';
import { loadInstallation, ROOT } from '../load.ts';

/** Writes a folder of modules inside the repository, so that they find #core, and loads it. */
async function loadAll(files: Record<string, string>, disabled: string[] = [], enabled: string[] = []) {
  const root = await mkdtemp(join(ROOT, 'core/loader/test/modules-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      const file = join(root, 'group', path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    const config = readConfig({ MODULES_DISABLED: disabled.join(), MODULES_ENABLED: enabled.join() });
    return await loadInstallation(config, new PackageFaults(), root);
  } finally {
    await rm(root, { recursive: true });
  }
}
const load = async (...given: Parameters<typeof loadAll>): Promise<string> =>
  (await loadAll(...given)).map(({ module }) => module.name).join(' ');
const manifest = (name: string, more = '') =>
  `import { defineModule } from '#core';\nexport default defineModule({ name: '${name}', title: 'T', summary: 'S', requires: [], ${more} });`;
const route = (fields: string) =>
  `import { defineRoute } from '#core';\nimport Joi from 'joi';\nexport default [defineRoute({ method: 'POST', path: '/a', summary: 'S', access: { permission: 'devices:read' }, audit: 'a.b', response: Joi.any(), handler: () => null, ${fields} })];`;

const fails = (title: string, files: Record<string, string>, message: RegExp, disabled: string[] = []) =>
  test(title, async (t) => {
    const error = await t.throwsAsync(load(files, disabled), { name: 'LoadError' });
    t.regex(error?.message ?? '', message);
  });

test('modules come after those they require', async (t) => {
  t.is(await load({ 'a/index.ts': manifest('a', `requires: ['b']`), 'b/index.ts': manifest('b') }), 'b a');
});
fails(
  'a circle is named',
  { 'a/index.ts': manifest('a', `requires: ['b']`), 'b/index.ts': manifest('b', `requires: ['a']`) },
  /circle: a > b > a/,
);
fails(
  'a folder in a group that is no module is refused',
  { 'a/index.ts': manifest('a'), 'b/README.md': 'nothing' },
  /group\/b: modules lie in <group>\/<name>/,
);
fails(
  'a route file that exports no list is named',
  { 'a/index.ts': manifest('a'), 'a/routes/x.ts': 'export default {};' },
  /a\/routes\/x\.ts must export a list of routes/,
);
fails(
  'a file among the jobs that is not code is named',
  { 'a/index.ts': manifest('a'), 'a/jobs/patches/scan.sql': 'select 1' },
  /a\/jobs\/patches\/scan\.sql is neither TypeScript nor JavaScript/,
);
test('a job in a nested folder has its path in its name', async (t) => {
  const job = (name: string) =>
    `import Joi from 'joi';\nimport { defineJob } from '#core';\nexport default defineJob({ name: '${name}', summary: 'S', scope: 'platform', payload: Joi.object({}), maxAttempts: 1, run: async () => undefined });`;
  t.is(await load({ 'a/index.ts': manifest('a'), 'a/jobs/deep/x.ts': job('a/deep/x') }), 'a');
  const error = await t.throwsAsync(load({ 'a/index.ts': manifest('a'), 'a/jobs/deep/x.ts': job('a/x') }));
  t.regex(error?.message ?? '', /the job is named a\/x, not a\/deep\/x/);
});
fails('a missing requirement is named', { 'a/index.ts': manifest('a', `requires: ['z']`) }, /a\/index\.ts requires z/);
fails('a module named unlike its folder is refused', { 'a/index.ts': manifest('b') }, /is named b/);
fails(
  'a file that cannot be loaded is named',
  { 'a/index.ts': manifest('a'), 'a/routes/x.ts': 'import "./nowhere.ts";' },
  /a\/routes\/x\.ts cannot be loaded/,
);
fails(
  'a route without access is refused',
  { 'a/index.ts': manifest('a'), 'a/routes/x.ts': route('access: undefined as never') },
  /x\.ts: POST \/a: it has no access/,
);
fails(
  'a write without audit is refused',
  { 'a/index.ts': manifest('a'), 'a/routes/x.ts': route('audit: undefined as never') },
  /must name its audit action/,
);
test('the permissions and audit actions of a module follow from its routes', async (t) => {
  const [loaded] = await loadAll({
    'a/index.ts': manifest('a', `auditOnly: ['a.swept']`),
    'a/routes/x.ts': route(`audit: { oneOf: ['c.d', 'c.e'] }, access: { permission: 'sites:read' }`),
  });
  t.deepEqual(loaded?.module.permissions, ['sites:read']);
  t.deepEqual(loaded?.module.audits, ['c.d', 'c.e', 'a.swept']);
});
fails(
  'an invented permission is refused',
  { 'a/index.ts': manifest('a'), 'a/routes/x.ts': route(`access: { permission: 'moon:walk' }`) },
  /moon:walk does not exist/,
);
fails(
  'open access to any user needs a reason',
  { 'a/index.ts': manifest('a'), 'a/routes/x.ts': route('access: { permission: null }') },
  /needs a reason/,
);
fails(
  'a path whose parameter no schema covers is refused',
  { 'a/index.ts': manifest('a'), 'a/routes/x.ts': route(`path: '/a/{id}'`) },
  /does not cover the path/,
);
fails(
  'a body that may be stored however large it is, is refused',
  {
    'a/index.ts': manifest('a'),
    'a/routes/x.ts': route(`payload: Joi.object({ name: Joi.string(), all: Joi.array().items(Joi.any()) })`),
  },
  /x\.ts: POST \/a: nothing bounds name, all, all\[\] of its payload/,
);
test('a small body may leave its parts open, and so may what an agent sends', async (t) => {
  const payload = 'payload: Joi.object({ name: Joi.string() })';
  const agent = `access: { agent: { roles: ['agent'] } }, path: '/b/{id}', params: Joi.object({ id: Joi.string() })`;
  t.is(
    await load({
      'a/index.ts': manifest('a'),
      'a/routes/x.ts': route(`maxBytes: 65_536, ${payload}`),
      'a/routes/y.ts': route(`${agent}, ${payload}`),
    }),
    'a',
  );
});
fails(
  'the same route in two files is refused',
  {
    'a/index.ts': manifest('a'),
    'a/routes/x.ts': route(`path: '/a/{id}', params: Joi.object({ id: Joi.string() })`),
    'a/routes/y.ts': route(`path: '/a/{other}', params: Joi.object({ other: Joi.string() })`),
  },
  /y\.ts: POST \/a\/\{\} is also declared in .*x\.ts/,
);
fails(
  'a job named unlike its file is refused',
  {
    'a/index.ts': manifest('a'),
    'a/jobs/do-it.ts': `import { defineJob } from '#core';\nimport Joi from 'joi';\nexport default defineJob({ name: 'a/other', summary: 'S', scope: 'tenant', payload: Joi.object({}), maxAttempts: 1, run: async () => {} });`,
  },
  /do-it\.ts: the job is named a\/other, not a\/do-it/,
);
const event = (fields: string) =>
  `import { defineEvent } from '#core';\nimport Joi from 'joi';\nexport default defineEvent({ summary: 'S', data: Joi.object({ n: Joi.number().required() }), ${fields} });`;
fails(
  'an event whose example does not fit its data is refused',
  { 'a/index.ts': manifest('a'), 'a/events/lamp/went-out.ts': event(`example: { n: 'one' }`) },
  /went-out\.ts: its example does not fit its data: "n" must be a number/,
);
test('a subscriber may react to an event that is named by its path', async (t) => {
  t.is(
    await load({
      'a/index.ts': manifest('a'),
      'a/events/lamp/went-out.ts': event('example: { n: 1 }'),
      'a/subscribers/x.ts': `export default { on: 'a.lamp.went_out', summary: 'S', run: async () => {} };`,
    }),
    'a',
  );
});
const slot = (fields: string) =>
  `import { defineSlot } from '#core';\nexport default defineSlot({ summary: 'S', ${fields} });`;
const fill = (name: string) =>
  `import { defineContribution } from '#core';\nexport default [defineContribution('${name}', {}), defineContribution('${name}', {})];`;
test('slots are named by their paths and contributions by their slots', async (t) => {
  const [a, b] = await loadAll({
    'a/index.ts': manifest('a'),
    'a/slots/lamp/light.ts': slot('steady: true'),
    'a/slots/other.ts': slot(`name: 'later.other'`),
    'b/index.ts': manifest('b'),
    'b/fills/a.lamp.light.ts': fill('a.lamp.light'),
    'b/fills/later.other/one.ts': fill('later.other'),
  });
  t.deepEqual(
    a?.slots.map(({ name, definition }) => [name, definition.steady]),
    [
      ['a.lamp.light', true],
      ['later.other', undefined],
    ],
  );
  t.is(b?.contributions.length, 4);
});
fails(
  'a contribution to a slot that no module opens is refused',
  { 'a/index.ts': manifest('a'), 'a/fills/z.none.ts': fill('z.none') },
  /z\.none\.ts: no module declares the slot z\.none/,
);
fails(
  'a contribution in a file of another name than its slot is refused',
  { 'a/index.ts': manifest('a'), 'a/fills/z.other.ts': fill('z.none') },
  /z\.other\.ts contributes to z\.none: name the file or its folder after the slot/,
);
fails(
  'the faults of all files that cannot be loaded are named at once',
  {
    'a/index.ts': manifest('a'),
    'a/routes/x.ts': 'import "./nowhere.ts";',
    'a/jobs/y.ts': 'export const lost = 1;',
    'b/index.ts': manifest('c'),
  },
  /a\/routes\/x\.ts cannot be loaded: .*\n.*a\/jobs\/y\.ts has no default export\n.*b\/index\.ts is named c, not b$/,
);
fails(
  'a second declaration of an error is refused, and both places are named',
  {
    'a/index.ts': manifest('a'),
    'a/routes/x.ts': `import { defineError } from '#core';\ndefineError('NOT_FOUND', 404, 'Gone');\nexport default [];`,
  },
  /x\.ts cannot be loaded: the error NOT_FOUND is declared twice, in \/.*core\/errors\.ts:\d+ and in \/.*x\.ts:2$/,
);
fails(
  'two schemas of one name are refused',
  {
    'a/index.ts': manifest('a'),
    'a/routes/x.ts': route(
      `maxBytes: 100, payload: named('Lamp', Joi.object({ a: Joi.any() })), response: named('Lamp', Joi.object())`,
    ).replace('{ defineRoute }', '{ defineRoute, named }'),
  },
  /a: two schemas are named Lamp$/,
);
fails(
  'the faults of all declarations are named at once',
  {
    'a/index.ts': manifest('a'),
    'a/routes/x.ts': route('access: undefined as never'),
    'b/index.ts': manifest('b'),
    'b/events/y.ts': event(`example: {}`),
  },
  /x\.ts: POST \/a: it has no access\n.*b\/events\/y\.ts: its example does not fit/,
);
fails(
  'a subscriber to an event that nobody declares is refused',
  {
    'a/index.ts': manifest('a'),
    'a/subscribers/x.ts': `export default { on: 'nobody.spoke', summary: 'S', run: async () => {} };`,
  },
  /no module declares the event nobody\.spoke/,
);
fails('a core module cannot be switched off', { 'a/index.ts': manifest('a', 'core: true') }, /cannot be switched off/, [
  'a',
]);
fails('a name in the configuration that no module has is refused', { 'a/index.ts': manifest('a') }, /names z/, ['z']);
fails(
  'a module that cannot be switched off may not require one that can',
  { 'a/index.ts': manifest('a', `core: true, requires: ['b']`), 'b/index.ts': manifest('b') },
  /a\/index\.ts cannot be switched off, but requires b/,
);
test('a module that the configuration switches off is there all the same: its tables and what it keeps whole stay', async (t) => {
  t.is(await load({ 'a/index.ts': manifest('a'), 'b/index.ts': manifest('b') }, ['b'], ['a']), 'a b');
});

const variables = (name: string) =>
  `import { defineVariables, variable } from '#core';\nexport const variables = defineVariables({ ${name}: variable.flag(false) });`;
const withVariables = (name: string, variable: string) => ({
  [`${name}/index.ts`]: `import { variables } from './variables.ts';\n${manifest(name, 'variables')}`,
  [`${name}/variables.ts`]: variables(variable),
});
fails(
  'a variable that two modules declare stops the start',
  { ...withVariables('one', 'ONE_FLAG'), ...withVariables('two', 'ONE_FLAG') },
  /index\.ts: the variable ONE_FLAG is already one of (one|two)/,
);
fails(
  "a variable of the deployment is no module's",
  withVariables('one', 'PORT'),
  /PORT is already one of the deployment/,
);
