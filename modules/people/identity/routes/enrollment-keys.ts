/** /enrollment-keys: listing, creating, rotating and removing enrollment keys. */
import Joi from 'joi';
import { defineRoute, type PageQuery, pageOf, pageQuery } from '#core';
import {
  enrollmentKeyCreate,
  enrollmentKeyOnce,
  enrollmentKeyRotate,
  enrollmentKeyShape,
} from '../models/enrollment-key.ts';
import {
  createEnrollmentKey,
  deleteEnrollmentKey,
  listEnrollmentKeys,
  readEnrollmentKey,
  rotateEnrollmentKey,
} from '../services/keys/enrollment-keys.ts';

const params = Joi.object<{ id: string }>({ id: Joi.string().uuid().required() });
const read = { permission: 'organizations:read', apiKey: false };
const write = { permission: 'organizations:write', mfa: true, apiKey: false };

export default [
  defineRoute({
    method: 'GET',
    path: '/enrollment-keys',
    summary: 'Lists enrollment keys, newest first',
    access: read,
    query: Joi.object<PageQuery & { orgId?: string; expired?: boolean }>({
      ...pageQuery(),
      orgId: Joi.string().uuid(),
      expired: Joi.boolean().description('true: only expired keys; false: only keys that have not expired'),
    }),
    response: pageOf(enrollmentKeyShape),
    handler: (ctx, { query }) => listEnrollmentKeys(ctx, query),
  }),
  defineRoute({
    method: 'POST',
    path: '/enrollment-keys',
    summary: 'Creates an enrollment key; only this response contains the raw key',
    access: write,
    audit: 'enrollment_key.create',
    payload: enrollmentKeyCreate,
    response: enrollmentKeyOnce,
    status: 201,
    errors: ['NOT_FOUND', 'SITE_ACCESS_DENIED', 'ORG_REQUIRED'],
    handler: (ctx, { payload }) => createEnrollmentKey(ctx, payload),
  }),
  defineRoute({
    method: 'GET',
    path: '/enrollment-keys/{id}',
    summary: 'Reads an enrollment key, without the raw key',
    access: read,
    params,
    response: enrollmentKeyShape,
    handler: (ctx, { params: { id } }) => readEnrollmentKey(ctx, id),
  }),
  defineRoute({
    method: 'POST',
    path: '/enrollment-keys/{id}/rotate',
    summary: 'Replaces the raw key and resets its usage count',
    access: write,
    audit: 'enrollment_key.rotate',
    params,
    payload: enrollmentKeyRotate,
    response: enrollmentKeyOnce,
    handler: (ctx, { params: { id }, payload }) => rotateEnrollmentKey(ctx, id, payload),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/enrollment-keys/{id}',
    summary: 'Deletes an enrollment key permanently',
    access: write,
    audit: 'enrollment_key.delete',
    params,
    response: Joi.object({ success: Joi.boolean().required() }),
    handler: (ctx, { params: { id } }) => deleteEnrollmentKey(ctx, id),
  }),
];
