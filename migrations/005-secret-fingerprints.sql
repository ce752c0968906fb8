-- Fingerprints of the secrets that this database is used with: a start with others stops before it makes sealed values unreadable.

create table secret_fingerprints (
  name text primary key check (name in ('jwtSecret', 'encryptionKey', 'enrollmentPepper')),
  -- HMAC-SHA256 under the secret, in hexadecimal
  fingerprint text not null check (fingerprint ~ '^[0-9a-f]{64}$'),
  since timestamptz not null default now()
);
call protect_platform('secret_fingerprints');
revoke insert, update, delete on secret_fingerprints from quartermaster_platform;
