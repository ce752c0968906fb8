/** Errors of this module. */
import { defineError } from '#core';

export const ManifestInvalid = defineError('MANIFEST_INVALID', 422, 'The manifest or its signature is not valid');
export const ChecksumMismatch = defineError('CHECKSUM_MISMATCH', 422, 'A file does not match its manifest');
export const VersionChanged = defineError(
  'VERSION_CHANGED',
  422,
  'The version is registered with another checksum; a published version never changes',
);
export const ManifestNotTrusted = defineError(
  'MANIFEST_NOT_TRUSTED',
  409,
  'The manifest is signed with a key that is not trusted, or has expired',
);
export const VersionWithdrawn = defineError('VERSION_WITHDRAWN', 410, 'The version was withdrawn');
export const ReleaseSourceMissing = defineError('RELEASE_SOURCE_MISSING', 409, 'No source of releases is configured');
export const UpstreamFailed = defineError(
  'UPSTREAM_ERROR',
  502,
  'The release host returned an error or an invalid answer',
);
export const PrereleaseNeedsForce = defineError('PRERELEASE', 409, 'A prerelease is only promoted with force');
