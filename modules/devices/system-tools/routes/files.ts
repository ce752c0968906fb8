/** /system-tools/devices/{deviceId}/files: listing, downloading and uploading files of a device. */

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
import { changeAccess, changeErrors, onDevice, readAccess, readErrors } from '../models/tool-routes.ts';
import { listFiles } from '../services/files.ts';
import { download } from '../services/transfers/downloads.ts';
import { upload as uploadFile } from '../services/transfers/uploads.ts';
import { variables } from '../variables.ts';

const base = '/system-tools/devices/{deviceId}/files';
const OCTETS = 'application/octet-stream';

/** Errors of tools for files and folders. */
const fileErrors = ['FILE_LOCKED', 'PAYLOAD_TOO_LARGE'];

export default [
  defineRoute({
    method: 'GET',
    path: base,
    summary: 'Lists a folder of a device',
    access: readAccess,
    work: 'none',
    params: onDevice,
    query: listQuery,
    response: fileList,
    errors: [...readErrors, ...fileErrors],
    handler: (ctx, input) => listFiles(ctx, input),
  }),
  defineRoute({
    method: 'GET',
    path: `${base}/download`,
    summary: 'Downloads a file from a device',
    description: 'Files of any size. If the connection ends before the announced length, the file is incomplete.',
    // It transfers data out of the organization, so it needs the permission to execute.
    access: changeAccess,
    work: 'none',
    audit: 'device.file.download',
    params: onDevice,
    query: downloadQuery,
    response: Joi.any(),
    produces: [OCTETS],
    errors: [...readErrors, ...fileErrors],
    handler: (ctx, input) => download(ctx, input),
  }),
  defineRoute({
    method: 'POST',
    path: `${base}/upload`,
    summary: 'Uploads a file to a device',
    description:
      'Within JSON up to 4 MiB, or of any size as the body with path, overwrite and createParents in the query. The file is written completely or not at all.',
    access: changeAccess,
    work: 'none',
    idempotent: 'handler',
    audit: 'device.file_upload',
    params: onDevice,
    query: uploadQuery,
    payload: upload,
    maxBytes: 6 * 1024 * 1024,
    stream: { type: OCTETS, maxBytes: (config) => variables.of(config).transferMaxBytes },
    response: transferredFile.append<{ success: boolean }>({ success: Joi.boolean().required() }),
    errors: [...changeErrors, ...fileErrors, 'BODY_INCOMPLETE'],
    handler: (ctx, input: Input<{ deviceId: string }, Partial<Placement>, Upload | BodyStream>) =>
      uploadFile(ctx, input),
  }),
];
