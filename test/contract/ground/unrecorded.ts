/** Operations without a recorded example, each with the reason: what they want cannot be had on a test's platform alone. */
const DEVICE = '/system-tools/devices/{deviceId}';

export const UNRECORDED: Record<string, string> = {
  'GET /events': 'a stream that does not end: events/test/events',
  'GET /audit-logs/stream': 'a stream that does not end: audit/test/streams',
  [`GET ${DEVICE}/files/download`]: 'wants a file that the device sends: system-tools/test/transfers',
  [`POST ${DEVICE}/files/upload`]: 'wants a file, not JSON: system-tools/test/transfers',
  'POST /plugins/catalog': 'wants a package, not JSON: plugins/test/catalog/catalog',
  'GET /agents/{id}/transfers/{commandId}': 'wants a file on its way to the device: system-tools/test/transfers',
  'PUT /agents/{id}/transfers/{commandId}': 'wants a file, not JSON: system-tools/test/transfers',
  'GET /sso/login/{orgId}': 'goes to an identity provider: sso/test/logins',
  'GET /sso/callback': 'comes from an identity provider: sso/test/logins',
  'POST /sso/exchange': 'comes from an identity provider: sso/test/logins',
  'POST /sso/providers/{id}/test': 'asks an identity provider: sso/test/providers',
};
