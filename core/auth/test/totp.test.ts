/** Codes of the authenticator app and recovery codes. */
import test from 'ava';
import { generateSync } from 'otplib';
import { sha256Hex } from '../opaque-tokens.ts';
import { hashRecoveryCode, newRecoveryCodes, newTotpSecret, plainRecoveryCode, totpUri, verifyTotp } from '../totp.ts';

/** The secret of RFC 6238 appendix B, `12345678901234567890`, in Base32. */
const rfcSecret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const secret = newTotpSecret();
const middle = 60_000_000 * 30_000 + 15_000;
const codeAt = (ms: number) => generateSync({ secret, epoch: Math.floor(ms / 1000) });

test('the codes are those of RFC 6238', (t) => {
  t.deepEqual(verifyTotp({ secret: rfcSecret, code: '287082', now: 59_000 }), { ok: true, step: 1 });
  t.deepEqual(verifyTotp({ secret: rfcSecret, code: '081804', now: 1_111_111_109_000 }), {
    ok: true,
    step: 37_037_036,
  });
});

test('a new secret has 160 bits and is never the same', (t) => {
  t.regex(secret, /^[A-Z2-7]{32}$/);
  t.not(newTotpSecret(), newTotpSecret());
});

test('the address for the QR code names issuer and account', (t) => {
  const uri = new URL(totpUri({ secret, account: 'ann@example.com', issuer: 'Quarter master' }));
  t.is(uri.href.split('?')[0], 'otpauth://totp/Quarter%20master:ann%40example.com');
  t.is(uri.searchParams.get('secret'), secret);
  t.is(uri.searchParams.get('issuer'), 'Quarter master');
});

test('the step before and the step after are accepted, two steps away is not', (t) => {
  // From both ends of a step, so that the tolerance is in steps and not in seconds.
  for (const now of [middle - 15_000, middle, middle + 14_999]) {
    const step = Math.floor(now / 30_000);
    for (const away of [-1, 0, 1]) {
      t.deepEqual(verifyTotp({ secret, code: codeAt(middle + away * 30_000), now }), { ok: true, step: step + away });
    }
    for (const away of [-2, 2])
      t.deepEqual(verifyTotp({ secret, code: codeAt(middle + away * 30_000), now }), { ok: false });
  }
});

test('a code that was used, and any older one, is refused', (t) => {
  const code = codeAt(middle);
  const { step } = verifyTotp({ secret, code, now: middle });
  t.false(verifyTotp({ secret, code, now: middle, lastUsedStep: step }).ok);
  t.false(verifyTotp({ secret, code: codeAt(middle - 30_000), now: middle, lastUsedStep: step }).ok);
  t.true(verifyTotp({ secret, code: codeAt(middle + 30_000), now: middle, lastUsedStep: step }).ok);
  t.true(verifyTotp({ secret, code, now: middle, lastUsedStep: null }).ok);
});

test('a code may be typed with spaces, and nothing but six digits is looked at', (t) => {
  const code = codeAt(middle);
  t.true(verifyTotp({ secret, code: ` ${code.slice(0, 3)} ${code.slice(3)} `, now: middle }).ok);
  for (const wrong of ['', '12345', '1234567', 'abcdef', '１２３４５６', `${code}0`, `-${code.slice(1)}`]) {
    t.deepEqual(verifyTotp({ secret, code: wrong, now: middle }), { ok: false }, wrong);
  }
});

test('recovery codes are ten different ones from an unambiguous alphabet', (t) => {
  const codes = newRecoveryCodes();
  t.is(new Set(codes).size, 10);
  for (const code of codes) t.regex(code, /^[0-9a-hjkmnp-tv-z]{5}-[0-9a-hjkmnp-tv-z]{5}$/);
  t.is(newRecoveryCodes(3).length, 3);
});

test('every letter of the alphabet comes up about as often as any other', (t) => {
  const letters = newRecoveryCodes(3200).join('').replaceAll('-', '');
  const counts = new Map<string, number>();
  for (const letter of letters) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  t.is(counts.size, 32);
  for (const [letter, count] of counts) t.true(count > 800 && count < 1200, `${letter}: ${count}`);
});

test('a recovery code is the same however it is typed, and another one is not', (t) => {
  for (const typed of ['0a1b2-c3d4e', '0A1B2C3D4E', 'oaib2 c3d4e', ' OALB2-C3D4E ']) {
    t.is(plainRecoveryCode(typed), '0a1b2c3d4e', typed);
    t.is(hashRecoveryCode(typed), hashRecoveryCode('0a1b2-c3d4e'), typed);
  }
  t.not(hashRecoveryCode('0a1b2-c3d4f'), hashRecoveryCode('0a1b2-c3d4e'));
  t.is(hashRecoveryCode('0a1b2-c3d4e'), sha256Hex('0a1b2c3d4e'));
});
