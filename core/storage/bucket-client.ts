/** The one client of the S3-compatible store that an installation is configured with. */
import type { S3Client } from '@aws-sdk/client-s3';
import type { Services } from '../context/index.ts';

export type ObjectStorage = NonNullable<Services['config']['objectStorage']>;

/**
 * A client of the configured store; the caller calls its `destroy`. Its commands reject with the errors of the SDK,
 * after 10 s without a connection and 60 s without an answer. Must not be used within a transaction.
 */
export async function openBucketClient(storage: ObjectStorage): Promise<S3Client> {
  // Imported on demand, because it is large.
  const { S3Client } = await import('@aws-sdk/client-s3');
  const { endpoint, region, accessKeyId, secretAccessKey, forcePathStyle } = storage;
  return new S3Client({
    region,
    forcePathStyle,
    credentials: { accessKeyId, secretAccessKey },
    // Many stores other than AWS do not support trailing checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: 10_000, requestTimeout: 60_000 },
    ...(endpoint ? { endpoint } : {}),
  });
}
