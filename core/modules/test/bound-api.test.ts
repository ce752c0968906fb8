/** Apis of modules are bound to the context of their caller. */
import test from 'ava';
import type { Context } from '../../context/index.ts';
import { defineApi } from '../../contract/index.ts';
import { bindApi } from '../bound-api.ts';

const api = defineApi({ LIMIT: 3, whose: (ctx: Context, suffix: string) => `${ctx.requestId}${suffix}` });
const boundTo = (requestId: string) =>
  bindApi(api, { requestId } as Context) as { LIMIT: number; whose(suffix: string): string };

test('a function gets the context of the caller, and what is no function is passed on', (t) => {
  const [one, two] = [boundTo('one'), boundTo('two')];
  t.deepEqual([one.whose('!'), two.whose('?'), one.LIMIT], ['one!', 'two?', 3]);
});

test('a function that is taken off the api stays bound', (t) => {
  const { whose } = boundTo('one');
  t.is(whose('!'), 'one!');
});

test('contexts share the class of an api', (t) => {
  t.is(boundTo('one').constructor, boundTo('two').constructor);
});
