/** Files of a device, and the live tools for them. */
import Joi from 'joi';
import type { FileList, TransferredFile } from '#agent-protocol';
import { transferredFile, fileList as wireFiles } from '#agent-protocol/schemas';
import { named } from '#core';
import { shape, type Tool } from './tool.ts';

export const fileList = named('FileList', wireFiles);

const path = Joi.string().max(2048).description('A path in the syntax of the device');
export const listQuery = Joi.object<{ path: string; showHidden: boolean }>({
  path: path.allow('').default('').description('A folder; empty for the drives, or the root'),
  showHidden: Joi.boolean().default(false).description('true: includes hidden files'),
});
export const downloadQuery = Joi.object<{ path: string }>({ path: path.required() });

/** Maximum size of a file within JSON; larger ones are sent as the body. */
export const INLINE_BYTES = 4 * 1024 * 1024;
export interface Placement {
  path: string;
  overwrite: boolean;
  createParents: boolean;
}
export interface Upload extends Placement {
  content: string;
  encoding: 'text' | 'base64';
}
const placement = {
  overwrite: Joi.boolean().default(false).description('true: replaces an existing file'),
  createParents: Joi.boolean().default(false).description('true: creates missing folders'),
};
export const upload = named(
  'FileUpload',
  Joi.object<Upload>({
    ...placement,
    path: path.required(),
    content: Joi.string().allow('').max(5_600_000).required(),
    encoding: Joi.string().valid('text', 'base64').required(),
  }),
);
/** For a file that is sent as the body. */
export const uploadQuery = Joi.object<Placement>({ ...placement, path });

export const LIST_FILES: Tool<FileList> = { type: 'file_list', group: 'files', result: shape(fileList) };
export const READ_FILE: Tool<TransferredFile> = {
  type: 'file_read',
  group: 'files',
  result: shape(transferredFile),
  audit: 'device.file.download',
};
export const WRITE_FILE: Tool<TransferredFile> = {
  type: 'file_write',
  group: 'files',
  result: shape(transferredFile),
  audit: 'device.file_upload',
  mutates: true,
};
