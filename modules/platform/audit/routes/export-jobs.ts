/** /audit-logs/exports: exports of any size, written by a job. */
import Joi from 'joi';
import { defineRoute, type TicketQuery, ticketQuery } from '#core';
import {
  exportAccepted,
  exportJobPage,
  exportJobParams,
  exportJobQuery,
  exportJobRequest,
  exportJobShape,
} from '../models/export-job.ts';
import { downloadExport, listExports, readExport, requestExport } from '../services/exports/export-jobs.ts';

export default [
  defineRoute({
    method: 'GET',
    path: '/audit-logs/exports',
    summary: 'Lists exports of the last seven days, newest first',
    access: { permission: 'audit:export' },
    query: exportJobQuery,
    response: exportJobPage,
    errors: ['INVALID_CURSOR'],
    handler: (ctx, { query }) => listExports(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/audit-logs/exports/{id}',
    summary: 'Reads the progress of an export',
    access: { permission: 'audit:export' },
    params: exportJobParams,
    response: Joi.object({ data: exportJobShape.required() }),
    handler: (ctx, { params: { id } }) => readExport(ctx, id),
  }),
  defineRoute({
    method: 'POST',
    path: '/audit-logs/exports',
    summary: 'Requests an export of any size',
    access: { permission: 'audit:export' },
    audit: 'audit_logs.export',
    payload: exportJobRequest,
    response: exportAccepted,
    status: 202,
    errors: ['TOO_MANY_EXPORTS'],
    handler: (ctx, { payload }) => requestExport(ctx, payload),
  }),
  defineRoute({
    method: 'GET',
    path: '/audit-logs/exports/{id}/download',
    summary: 'Downloads the compressed file of an export',
    access: { permission: 'audit:export', ticket: 'audit.export' },
    query: Joi.object<TicketQuery>(ticketQuery),
    audit: 'audit_logs.export.download',
    params: exportJobParams,
    response: Joi.string(),
    produces: ['application/gzip'],
    errors: ['EXPORT_NOT_READY', 'EXPORT_FAILED'],
    handler: (ctx, { params: { id } }) => downloadExport(ctx, id),
  }),
];
