/** A signed checkpoint of a chain, and the request schemas of proofs. */
import Joi from 'joi';
import { Model, type PageQuery, pageQuery } from '#core';
import { type ChainQuery, orgId } from './verdict.ts';

export class AuditCheckpoint extends Model {
  static override tableName = 'audit_checkpoints';
  static override partnerOwned = true;
  declare id: string;
  declare owner: string;
  declare orgId: string | null;
  declare partnerId: string | null;
  declare size: number;
  declare rootHash: Buffer;
  declare keyId: string;
  declare note: string;
  declare createdAt: Date;
  declare storedAt: Date | null;
}

export type CheckpointQuery = PageQuery & ChainQuery;
export const checkpointQuery = Joi.object<CheckpointQuery>({ ...pageQuery(), orgId });

export const checkpointShape = Joi.object({
  id: Joi.string().uuid().required(),
  owner: Joi.string().required(),
  orgId: Joi.string().uuid().allow(null).required(),
  size: Joi.number().integer().required().description('Number of rows that it covers, from the first'),
  rootHash: Joi.string().base64().required().description('Merkle tree hash (RFC 6962) over the checksums'),
  keyId: Joi.string().required(),
  note: Joi.string().required().description('The signed note (C2SP signed-note, tlog-checkpoint)'),
  createdAt: Joi.date().iso().required(),
  storedAt: Joi.date().iso().allow(null).required().description('When it was written to object storage'),
});

export interface InclusionQuery {
  entryId: string;
  checkpointId?: string;
}
export const inclusionQuery = Joi.object<InclusionQuery>({
  entryId: Joi.string().uuid().required().description('The id of the entry'),
  checkpointId: Joi.string().uuid().description('Defaults to the newest of the chain'),
});
const hashes = Joi.array().items(Joi.string().base64()).required().description('Base64, nearest first');
export const inclusionShape = Joi.object({
  entryId: Joi.string().uuid().required(),
  seq: Joi.number().integer().required(),
  checksum: Joi.string().required(),
  leafIndex: Joi.number().integer().required(),
  leafHash: Joi.string().base64().required(),
  hashes,
  checkpoint: checkpointShape.required(),
});

export interface ConsistencyQuery {
  from: string;
  to: string;
}
export const consistencyQuery = Joi.object<ConsistencyQuery>({
  from: Joi.string().uuid().required().description('The checkpoint of fewer rows'),
  to: Joi.string().uuid().required().description('The checkpoint of more rows'),
});
export const consistencyShape = Joi.object({
  hashes,
  from: checkpointShape.required(),
  to: checkpointShape.required(),
});

export const keyShape = Joi.object({
  id: Joi.string().required(),
  name: Joi.string().required(),
  algorithm: Joi.string().valid('Ed25519').required(),
  publicKey: Joi.string().base64().required().description('32 bytes'),
  verifierKey: Joi.string().required().description('name+id+key, as verifiers of signed notes take it'),
  createdAt: Joi.date().iso().required(),
  retiredAt: Joi.date().iso().allow(null).required(),
});

export interface ExportQuery extends ChainQuery {
  after: number;
  limit: number;
  from?: Date;
  to?: Date;
  checkpointId?: string;
}
export const exportQuery = Joi.object<ExportQuery>({
  orgId,
  after: Joi.number().integer().min(0).default(0).description('Starts after this position of the chain'),
  limit: pageQuery(10_000, 10_000).limit,
  from: Joi.date().iso().description('Starts with the row before the first one at or after this time'),
  to: Joi.date().iso().description('Ends with the row after the last one at or before this time'),
  checkpointId: Joi.string().uuid().description('The checkpoint to prove against; defaults to the newest'),
});
