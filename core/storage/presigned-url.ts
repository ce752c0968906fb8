/** Links to objects of a bucket, which need no credentials for a time. */
import { createHash, createHmac } from 'node:crypto';
import type { ObjectStorage } from './bucket-client.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
// The encoding of AWS: everything except letters, digits and -_.~
const encode = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * A link that lets any client fetch the object for `seconds` seconds: AWS Signature Version 4 in the query
 * (https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html). Sends no request.
 */
export function presignedUrl(storage: ObjectStorage, key: string, seconds: number, now: Date): string {
  const { endpoint, region, bucket, accessKeyId, secretAccessKey, forcePathStyle } = storage;
  const base = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`);
  const host = forcePathStyle ? base.host : `${bucket}.${base.host}`;
  const root = base.pathname.replace(/\/+$/, '') + (forcePathStyle ? `/${encode(bucket)}` : '');
  const path = `${root}/${key.split('/').map(encode).join('/')}`;
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = [time.slice(0, 8), region, 's3', 'aws4_request'];
  const query = [
    ['X-Amz-Algorithm', 'AWS4-HMAC-SHA256'],
    ['X-Amz-Credential', [accessKeyId, ...scope].join('/')],
    ['X-Amz-Date', time],
    ['X-Amz-Expires', String(seconds)],
    ['X-Amz-SignedHeaders', 'host'],
  ]
    .map(([name = '', value = '']) => `${encode(name)}=${encode(value)}`)
    .join('&');
  const canonical = ['GET', path, query, `host:${host}\n`, 'host', 'UNSIGNED-PAYLOAD'].join('\n');
  const text = ['AWS4-HMAC-SHA256', time, scope.join('/'), sha256(canonical)].join('\n');
  const signing = scope.reduce<string | Buffer>((secret, part) => hmac(secret, part), `AWS4${secretAccessKey}`);
  return `${base.protocol}//${host}${path}?${query}&X-Amz-Signature=${hmac(signing, text).toString('hex')}`;
}
