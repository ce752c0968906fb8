/** Every module says in its test/example.ts what the contract tests cannot derive from its routes. */
import test from 'ava';
import { loadModules, routeTags } from '../../core/loader/load.ts';
import { Examples, exampleFaults, labelOf, loadExamples } from './fixtures/examples.ts';
import { sampleOf } from './fixtures/sample.ts';

const modules = await loadModules();
const examples = new Examples(await loadExamples(modules));
const routes = routeTags(modules).map(({ route }) => route);

test('examples name operations of their own module, and tests that exist', (t) => {
  t.deepEqual(exampleFaults(examples.all), []);
});

test('every write has an example: a body that its schema accepts, a complete call, or a named test', (t) => {
  const without = routes.filter((route) => {
    if (route.method === 'GET' || route.method === 'DELETE' || !route.payload) return false;
    const parts = (['bodies', 'calls', 'callsElsewhere', 'testedIn', 'unrecorded'] as const).map((part) =>
      examples.of(part, route),
    );
    return parts.every((part) => part === undefined) && route.payload.validate(sampleOf(route.payload)).error;
  });
  t.deepEqual(without.map(labelOf), [], 'give a body, a call or the name of a test in test/example.ts of the module');
});
