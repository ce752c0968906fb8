/** /approvals: what waits for the decision of a second person. */
import Joi from 'joi';
import { defineRoute, pageOf, pageQuery } from '#core';
import { APPROVAL_STATUSES, approvalShape, approvalWithDevices } from '../models/approval.ts';
import { approve, cancel, reject } from '../services/decisions.ts';
import { type ApprovalQuery, listApprovals, readApproval } from '../services/requests.ts';

const params = Joi.object<{ id: string }>({ id: Joi.string().uuid().required() });
const wrapped = Joi.object({ data: approvalWithDevices.required() });
const reason = Joi.string().trim().min(1).max(1000);

const seen =
  'callers see what they asked for, and what the permission of its kind and their reach let them decide about';
/** The decision is that of a person, with the second factor: a key does not say who holds it. */
const decides = { permission: null, why: seen, mfa: true, apiKey: false };

export default [
  defineRoute({
    method: 'GET',
    path: '/approvals',
    summary: 'Lists requests for approval, the newest first',
    description:
      'Those that the caller asked for, and those that the caller could decide about: the permission of their kind, and all of their sites and devices within reach.',
    access: { permission: null, why: seen },
    query: Joi.object<ApprovalQuery>({
      ...pageQuery(),
      status: Joi.string()
        .valid(...APPROVAL_STATUSES)
        .description('Only in this state'),
      kind: Joi.string()
        .max(100)
        .pattern(/^[a-z][a-z0-9-]*\.[a-z0-9-]+$/)
        .description('Only of this kind, such as device-commands.bulk'),
      mine: Joi.string()
        .valid('asked', 'decidable')
        .description('`asked`: only those of the caller; `decidable`: only those that wait for the caller or others'),
      orgId: Joi.string().uuid().description('Only of this organization'),
    }),
    response: pageOf(approvalShape),
    errors: ['ORG_ACCESS_DENIED'],
    handler: (ctx, { query }) => listApprovals(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/approvals/{id}',
    summary: 'Reads a request for approval',
    access: { permission: null, why: seen },
    params,
    response: wrapped,
    errors: ['NOT_FOUND'],
    handler: (ctx, { params: { id } }) => readApproval(ctx, id),
  }),
  defineRoute({
    method: 'POST',
    path: '/approvals/{id}/approve',
    summary: 'Approves what another person asked for; it is then carried out',
    description:
      'It is carried out within seconds, once, in the name of the asker: `outcome` says how it went. Who asked, in whatever session or through an API key, cannot approve (403 `SAME_PERSON`).',
    access: decides,
    audit: 'approval.approve',
    params,
    payload: Joi.object<{ reason?: string }>({ reason }),
    response: wrapped,
    errors: ['NOT_FOUND', 'SAME_PERSON', 'STALE', 'INVALID_STATE'],
    handler: (ctx, { params: { id }, payload }) => approve(ctx, id, payload.reason),
  }),
  defineRoute({
    method: 'POST',
    path: '/approvals/{id}/reject',
    summary: 'Rejects what another person asked for',
    access: decides,
    audit: 'approval.reject',
    params,
    payload: Joi.object<{ reason: string }>({ reason: reason.required() }),
    response: wrapped,
    errors: ['NOT_FOUND', 'SAME_PERSON', 'INVALID_STATE'],
    handler: (ctx, { params: { id }, payload }) => reject(ctx, id, payload.reason),
  }),
  defineRoute({
    method: 'POST',
    path: '/approvals/{id}/cancel',
    summary: 'Takes back what the caller asked for',
    access: { permission: null, why: 'only who asked can take it back', apiKey: false },
    audit: 'approval.cancel',
    params,
    response: wrapped,
    errors: ['NOT_FOUND', 'FORBIDDEN', 'INVALID_STATE'],
    handler: (ctx, { params: { id } }) => cancel(ctx, id),
  }),
];
