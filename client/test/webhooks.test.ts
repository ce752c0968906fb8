/** A message is believed only with the secret, unchanged and fresh. */
import test from 'ava';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook, WebhookVerificationError } from '../src/webhooks.ts';

const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes, ok').toString('base64')}`;
const OTHER = `whsec_${Buffer.from('another one of thirty-two bytes!').toString('base64')}`;
const BODY = JSON.stringify({ id: 'e1', type: 'device.online', orgId: null, data: {} });
function signed(secret = SECRET, at = new Date()) {
  const signature = new Webhook(secret).sign('msg_1', at, BODY);
  return {
    'Webhook-Id': 'msg_1',
    'Webhook-Timestamp': String(Math.floor(at.getTime() / 1000)),
    'Webhook-Signature': signature,
  };
}

test('headers may come as servers, gateways and fetch give them, and the body as text or bytes', (t) => {
  const headers = signed();
  const lists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value]]));
  for (const given of [headers, lists, new Headers(headers)]) {
    t.is(verifyWebhook(SECRET, BODY, given).type, 'device.online');
    t.is(verifyWebhook(SECRET, Buffer.from(BODY), given).id, 'e1');
  }
});

test('while a secret is being changed either of them will do', (t) => {
  t.is(verifyWebhook([OTHER, SECRET], BODY, signed()).id, 'e1');
});

test('another secret, another body, an old message and missing headers are refused', (t) => {
  const refused = { instanceOf: WebhookVerificationError };
  t.throws(() => verifyWebhook(OTHER, BODY, signed()), refused);
  t.throws(() => verifyWebhook([], BODY, signed()), refused);
  t.throws(() => verifyWebhook(SECRET, `${BODY} `, signed()), refused);
  t.throws(() => verifyWebhook(SECRET, BODY, signed(SECRET, new Date(Date.now() - 360_000))), refused);
  t.throws(() => verifyWebhook(SECRET, BODY, {}), refused);
});
