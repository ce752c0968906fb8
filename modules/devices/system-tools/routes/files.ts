/** /system-tools/devices/{deviceId}/files: listing, reading, writing and moving files of a device. */

import Joi from 'joi';
import { transferredFile } from '#agent-protocol/schemas';
import { type BodyStream, defineRoute, type Input } from '#core';
import {
  downloadQuery,
  fileList,
  listQuery,
  type Placement,
  type Upload,
  upload,
  uploadQuery,
} from '../models/file.ts';
import { actErrors, acting, lookErrors, looking, onDevice } from '../models/tool-routes.ts';
import { listFiles } from '../services/files.ts';
import { download } from '../services/transfers/downloads.ts';
import { upload as uploadFile } from '../services/transfers/uploads.ts';
import { variables } from '../variables.ts';

const base = '/system-tools/devices/{deviceId}/files';
const OCTETS = 'application/octet-stream';

/** What a device says of files and folders alone. */
const fileErrors = ['FILE_LOCKED', 'PAYLOAD_TOO_LARGE'];

export default [
  defineRoute({
    method: 'GET',
    path: base,
    summary: 'Lists a folder of a device',
    access: looking,
    work: 'none',
    params: onDevice,
    query: listQuery,
    response: fileList,
    errors: [...lookErrors, ...fileErrors],
    handler: (ctx, input) => listFiles(ctx, input),
  }),
  defineRoute({
    method: 'GET',
    path: `${base}/download`,
    summary: 'Fetches a file of a device',
    description: 'Of any size. A connection that ends before the announced length says that the file is not whole.',
    // It takes data out of the house.
    access: acting,
    work: 'none',
    audit: 'device.file.download',
    params: onDevice,
    query: downloadQuery,
    response: Joi.any(),
    produces: [OCTETS],
    errors: [...lookErrors, ...fileErrors],
    handler: (ctx, input) => download(ctx, input),
  }),
  defineRoute({
    method: 'POST',
    path: `${base}/upload`,
    summary: 'Puts a file onto a device',
    description:
      'Within JSON up to 4 MiB, or of any size as the body itself with path, overwrite and createParents in the query. The file is there whole or not at all.',
    access: acting,
    work: 'none',
    idempotent: 'handler',
    audit: 'device.file_upload',
    params: onDevice,
    query: uploadQuery,
    payload: upload,
    maxBytes: 6 * 1024 * 1024,
    stream: { type: OCTETS, maxBytes: (config) => variables.of(config).transferMaxBytes },
    response: transferredFile.append<{ success: boolean }>({ success: Joi.boolean().required() }),
    errors: [...actErrors, ...fileErrors, 'BODY_INCOMPLETE'],
    handler: (ctx, input: Input<{ deviceId: string }, Partial<Placement>, Upload | BodyStream>) =>
      uploadFile(ctx, input),
  }),
];
