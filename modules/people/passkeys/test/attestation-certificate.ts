/** A make of authenticator of our own: the certificate is as the standard wants it, good until 2126, and trusted by nobody. */
import { createPrivateKey } from 'node:crypto';

export const certificate = Buffer.from(
  'MIIB6TCCAY+gAwIBAgIUPcxlfnJe2s5qSnZKH6cQMbu6V6wwCgYIKoZIzj0EAwIwWzELMAkGA1UEBhMCVVMxDTALBgNVBAoMBFRl' +
    'c3QxIjAgBgNVBAsMGUF1dGhlbnRpY2F0b3IgQXR0ZXN0YXRpb24xGTAXBgNVBAMMEFRlc3QgYXR0ZXN0YXRpb24wIBcNMjYxMTIx' +
    'MDYyODAyWhgPMjEyNjEwMjgwNjI4MDJaMFsxCzAJBgNVBAYTAlVTMQ0wCwYDVQQKDARUZXN0MSIwIAYDVQQLDBlBdXRoZW50aWNh' +
    'dG9yIEF0dGVzdGF0aW9uMRkwFwYDVQQDDBBUZXN0IGF0dGVzdGF0aW9uMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEEAG1s6sc' +
    'UZDp2GQV6BD4Lb322aMbeDDg4JSDIqCmb/mgbXglKH3LGogeNuV7OrPh9KZZe60BJY5FVeA5KIwRuKMvMC0wDAYDVR0TAQH/BAIw' +
    'ADAdBgNVHQ4EFgQU2G2uPjL3TG9SZVkbSykxYjPxP4cwCgYIKoZIzj0EAwIDSAAwRQIhAIL23gb0QKbrWlYdoydollaJbwSFlYZV' +
    'av/Q1Nxcs/9YAiA3LtpfYVY/cJUzRswnAqM16d/Qw5IH3M/k0N0797MFEA==',
  'base64',
);
export const certificateKey = createPrivateKey({
  format: 'der',
  type: 'pkcs8',
  key: Buffer.from(
    'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgsbFobzuH35DaV0pgp0AcZTs1kWzZr84HbhGlKEJTIBehRANCAAQQ' +
      'AbWzqxxRkOnYZBXoEPgtvfbZoxt4MODglIMioKZv+aBteCUofcsaiB425Xs6s+H0pll7rQEljkVV4DkojBG4',
    'base64',
  ),
});
