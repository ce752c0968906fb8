/** Whose address an address is, by what providers of different kinds say. */
import test from 'ava';
import { readPerson } from '../services/claims.ts';

const settings = {
  issuer: 'https://login.bakery.example',
  emailClaim: 'email',
  nameClaim: 'name',
  trustEmail: false,
  allowedDomains: [],
};
const read = (claims: object, userInfo: object = {}, more: object = {}) =>
  readPerson({ ...settings, ...more }, { sub: 's', ...claims }, { ...userInfo });
const verified = (claims: object, more: object = {}) => read(claims, {}, more).emailVerified;

test('Google is believed about its own addresses and those of a Workspace only', (t) => {
  const google = { issuer: 'https://accounts.google.com', trustEmail: true };
  t.true(verified({ email: 'ada@gmail.com', email_verified: true }, google));
  t.true(verified({ email: 'ada@bakery.example', email_verified: true, hd: 'bakery.example' }, google));
  t.false(verified({ email: 'ada@bakery.example', email_verified: true }, google));
  t.false(verified({ email: 'ada@gmail.com', email_verified: false }, google));
});

test('Entra says by a claim of its own whether the domain of an address is the tenant’s', (t) => {
  const entra = { issuer: 'https://login.microsoftonline.com/11111111-1111-4111-8111-111111111111/v2.0' };
  t.true(verified({ email: 'ada@bakery.example', xms_edov: true }, entra));
  t.true(verified({ email: 'ada@bakery.example', xms_edov: '1' }, entra));
  t.false(verified({ email: 'ada@bakery.example', xms_edov: false }, { ...entra, trustEmail: true }));
  t.false(verified({ email: 'ada@bakery.example' }, entra));
  t.true(verified({ email: 'ada@bakery.example' }, { ...entra, trustEmail: true }));
});

test('an address and its verification come from the same place', (t) => {
  const person = read({ email: 'a@example.com', email_verified: true }, { email: 'b@example.com' });
  t.like(person, { email: 'b@example.com', emailVerified: false });
  t.like(read({ email: 'a@example.com', email_verified: 'true' }, { sub: 's' }), {
    email: 'a@example.com',
    emailVerified: true,
  });
});

test('names and subjects are taken as they fit', (t) => {
  t.is(read({ email: 'A@Example.com', name: 'Ada\u0000\n Turner' }).name, 'Ada Turner');
  t.is(read({ email: 'A@Example.com', name: 7 }).name, 'a@example.com');
  t.is(read({ email: 'a@example.com', name: 'x'.repeat(400) }).name.length, 255);
  for (const sub of ['', 7, 'x'.repeat(256)]) {
    t.throws(() => read({ sub, email: 'a@example.com' }), { message: /subject/ });
  }
});
