/** /audit-logs: the hash chains, their signed checkpoints and the proofs over them. */

import Joi from 'joi';
import { defineRoute, pageOf } from '#core';
import {
  checkpointQuery,
  checkpointShape,
  consistencyQuery,
  consistencyShape,
  exportQuery,
  inclusionQuery,
  inclusionShape,
  keyShape,
} from '../models/checkpoint.ts';
import { verdictShape, verifyQuery } from '../models/verdict.ts';
import { exportTrail } from '../services/exports/chain-exports.ts';
import { listCheckpoints, readCheckpoint, readPublicKeys } from '../services/proofs/checkpoints.ts';
import { readConsistency, readInclusion } from '../services/proofs/proofs.ts';
import { verifyTrail } from '../services/proofs/verification.ts';

const read = { permission: 'audit:read' };
const work = { platform: 'the tenant role cannot read heads, trees and keys; the services check the caller' };

export default [
  defineRoute({
    method: 'GET',
    path: '/audit-logs/verify',
    summary: 'Recomputes a hash chain and names the first invalid row',
    description:
      'Checks a whole chain, or the rows between two times with a neighbour on each side, against its head and checkpoints.',
    access: read,
    limits: [{ name: 'audit-verify', max: 10, windowSeconds: 60, by: 'actor' }],
    query: verifyQuery,
    response: Joi.object({ data: verdictShape.required() }),
    errors: ['TARGET_OUT_OF_SCOPE'],
    work,
    handler: (ctx, { query }) => verifyTrail(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/audit-logs/chain-export',
    summary: 'Exports whole rows of a chain with their proof, for the offline verifier',
    description: 'NDJSON; the header x-next-after names the start of the next part. See core/audit/README.md.',
    access: { permission: 'audit:export' },
    audit: 'audit_logs.chain.export',
    limits: [{ name: 'audit-chain-export', max: 60, windowSeconds: 60, by: 'actor' }],
    query: exportQuery,
    produces: ['application/x-ndjson'],
    response: Joi.string(),
    errors: ['TARGET_OUT_OF_SCOPE'],
    work,
    handler: (ctx, { query }) => exportTrail(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/audit-logs/checkpoints',
    summary: 'Lists the signed checkpoints of a chain, newest first',
    access: read,
    query: checkpointQuery,
    response: pageOf(checkpointShape),
    handler: (ctx, { query }) => listCheckpoints(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/audit-logs/checkpoints/{id}',
    summary: 'Reads a signed checkpoint',
    access: read,
    params: Joi.object<{ id: string }>({ id: Joi.string().uuid().required() }),
    response: Joi.object({ data: checkpointShape.required() }),
    handler: (ctx, { params: { id } }) => readCheckpoint(ctx, id),
  }),
  defineRoute({
    method: 'GET',
    path: '/audit-logs/proofs/inclusion',
    summary: 'Proves that a checkpoint covers an entry',
    access: read,
    query: inclusionQuery,
    response: Joi.object({ data: inclusionShape.required() }),
    errors: ['NOT_COVERED', 'NOT_FOUND', 'PROOF_BROKEN'],
    work,
    handler: (ctx, { query }) => readInclusion(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/audit-logs/proofs/consistency',
    summary: 'Proves that a checkpoint continues an earlier one',
    access: read,
    query: consistencyQuery,
    response: Joi.object({ data: consistencyShape.required() }),
    errors: ['NOT_FOUND', 'PROOF_BROKEN'],
    work,
    handler: (ctx, { query }) => readConsistency(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/audit-logs/public-key',
    summary: 'Lists the keys that sign checkpoints',
    access: { open: 'any person who has a checkpoint or an export may verify it' },
    limits: [{ name: 'audit-public-key', max: 60, windowSeconds: 60, by: 'ip' }],
    response: Joi.object({
      data: Joi.object({ current: keyShape.required(), keys: Joi.array().items(keyShape).required() }).required(),
    }),
    work,
    handler: (ctx) => readPublicKeys(ctx),
  }),
];
