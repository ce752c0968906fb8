/** What of a body counts as bounded. */
import test from 'ava';
import Joi from 'joi';
import { openObject } from '../../http/payloads/open-object.ts';
import { unboundedFields } from '../bounds.ts';

const body = (field: Joi.Schema) => unboundedFields(Joi.object({ field }));

test('a text needs an end, by length, by form or by a list of what it may be', (t) => {
  for (const open of [
    Joi.string(),
    Joi.string().min(3),
    Joi.string().uri(),
    Joi.string().hex(),
    Joi.string().pattern(/^[a-z]+$/),
    Joi.string().pattern(/a{3}/),
    Joi.string().pattern(/^a{3,}$/),
  ]) {
    t.deepEqual(body(open), ['field'], JSON.stringify(open.describe()));
  }
  for (const bounded of [
    Joi.string().max(10),
    Joi.string().length(10),
    Joi.string().uuid(),
    Joi.string().isoDate(),
    Joi.string().ip(),
    Joi.string().email({ tlds: false }),
    Joi.string().valid('a', 'b'),
    Joi.string()
      .trim()
      .pattern(/^\d{6}$/),
    Joi.string().pattern(/^([01]\d|2[0-3]):[0-5]\d$/),
    Joi.string().pattern(/^[*+]\+{1,3}$/),
  ]) {
    t.deepEqual(body(bounded), [], JSON.stringify(bounded.describe()));
  }
});

test('a list needs a most, unless its entries are few and each comes once', (t) => {
  t.deepEqual(body(Joi.array().items(Joi.string().max(5))), ['field']);
  t.deepEqual(body(Joi.array().items(Joi.string()).max(5)), ['field[]']);
  t.deepEqual(body(Joi.array().items(Joi.string().max(5)).max(5)), []);
  t.deepEqual(body(Joi.array().items(Joi.string().valid('a', 'b')).unique()), []);
  t.deepEqual(body(Joi.array().items(Joi.string().valid('a', 'b'))), ['field']);
});

test('a whole number needs both ends, for columns are narrower than numbers', (t) => {
  t.deepEqual(body(Joi.number().integer().max(5)), ['field']);
  t.deepEqual(body(Joi.number().integer().min(0)), ['field']);
  t.deepEqual(body(Joi.number().integer().min(0).max(5)), []);
  t.deepEqual(body(Joi.number()), []);
});

test('an object of the caller’s own keys needs a size', (t) => {
  t.deepEqual(body(Joi.object()), ['field']);
  t.deepEqual(body(Joi.object().unknown()), ['field']);
  t.deepEqual(body(Joi.object({ a: Joi.boolean() }).unknown()), ['field']);
  t.deepEqual(body(Joi.any()), ['field']);
  t.deepEqual(body(Joi.object().pattern(/^a$/, Joi.boolean())), ['field']);
  t.deepEqual(body(Joi.object({ a: Joi.string() })), ['field.a']);
  t.deepEqual(body(openObject()), []);
  t.deepEqual(body(openObject().max(3).allow(null)), []);
  t.deepEqual(body(Joi.any().meta({ maxBytes: 100 })), []);
  t.deepEqual(body(Joi.any().forbidden()), []);
});

test('alternatives, conditions and schemas that contain themselves are followed', (t) => {
  t.deepEqual(body(Joi.alternatives(Joi.boolean(), Joi.string())), ['field']);
  const kind = Joi.string().valid('a', 'b');
  // biome-ignore lint/suspicious/noThenProperty: Joi names it so
  const follows = { is: 'a', then: Joi.string(), otherwise: Joi.boolean() };
  const when = Joi.object({
    kind,
    field: Joi.any().when('kind', follows),
  });
  t.true(unboundedFields(when).includes('field'));
  const node: Joi.ObjectSchema = Joi.object({ all: Joi.array().items(Joi.link('#node')) }).id('node');
  t.deepEqual(unboundedFields(node), ['all']);
  t.deepEqual(unboundedFields(Joi.string()), ['the body itself']);
  // describe() of Joi throws on this one.
  t.deepEqual(body(Joi.string().max(5).allow(null).failover(null)), []);
});

test('an open object says how large it may be, and is refused above', (t) => {
  const schema = openObject(20);
  t.is(schema.validate({ a: 'ä'.repeat(5) }).error, undefined);
  t.regex(schema.validate({ a: 'ä'.repeat(7) }).error?.message ?? '', /at most 20 bytes of JSON/);
});
