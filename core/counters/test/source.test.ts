/** IPv6 is counted by /64, whatever way the address is written. */
import test from 'ava';
import { sourceOf } from '../source.ts';

for (const [ip, source] of [
  ['192.0.2.7', '192.0.2.7'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:0DB8:0:0:ffff:ffff:ffff:ffff', '2001:db8:0:0::/64'],
  ['2001:db8:0:1::1', '2001:db8:0:1::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:3:4:5::', '2001:db8:1:2::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['64:ff9b::192.0.2.7', '64:ff9b:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['', ''],
] as const) {
  test(`${ip || 'an empty address'} counts as ${source || 'itself'}`, (t) => t.is(sourceOf(ip), source));
}

test('a request without an address is counted with the others of its kind', (t) => t.is(sourceOf(null), 'unknown'));
