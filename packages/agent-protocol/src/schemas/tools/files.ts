/** Files, as live tools return them. */
import Joi from 'joi';
import {
  FILE_TYPES,
  type FileEntry,
  type FileList,
  MAX_FILE_ENTRIES,
  type TransferredFile,
} from '../../tools/files.ts';

export const fileList = Joi.object<FileList>({
  path: Joi.string().allow('').required(),
  parent: Joi.string().allow('', null).required(),
  entries: Joi.array()
    .items(
      Joi.object<FileEntry>({
        name: Joi.string().required(),
        path: Joi.string().required(),
        type: Joi.string()
          .valid(...FILE_TYPES)
          .required(),
        size: Joi.number().integer().min(0).allow(null).required(),
        modified: Joi.string().allow(null).required(),
        permissions: Joi.string().allow('', null).required(),
        hidden: Joi.boolean().required(),
      }),
    )
    .max(MAX_FILE_ENTRIES)
    .required(),
  truncated: Joi.boolean().required(),
});
export const transferredFile = Joi.object<TransferredFile>({
  path: Joi.string().required(),
  size: Joi.number().integer().min(0).required(),
  sha256: Joi.string().hex().length(64).lowercase().required(),
});
