/** What a machine without an agent may fetch (domain/agents, section 9). */
import Joi from 'joi';
import { defineRoute } from '#core';
import {
  architectureWord,
  type Component,
  canonicalArchitecture,
  canonicalPlatform,
  componentWord,
  platformWord,
  versionWord,
} from '../models/coordinates.ts';
import { type FileQuery, sendFile } from '../services/downloads.ts';
import { sendScript } from '../services/install-scripts.ts';

const open = 'a machine without an agent has nothing to prove itself with; nothing here is secret';
const limits = [{ name: 'agent-install', max: 60, windowSeconds: 60, by: 'ip' as const }];
const script = { access: { open }, limits, produces: ['text/x-shellscript'], response: Joi.string() };

export default [
  defineRoute({
    method: 'GET',
    path: '/agents/install.sh',
    summary: 'The script that installs and enrolls an agent on Linux or macOS',
    ...script,
    handler: (ctx) => sendScript(ctx, 'install.sh'),
  }),
  defineRoute({
    method: 'GET',
    path: '/agents/uninstall.sh',
    summary: 'The script that removes an agent from Linux or macOS',
    ...script,
    handler: (ctx) => sendScript(ctx, 'uninstall.sh'),
  }),
  defineRoute({
    method: 'GET',
    path: '/agents/download/{os}/{arch}',
    summary: 'The program itself: a redirect to the release host, or the file',
    description: 'Without a version the latest. Files come with Content-Length, ETag (the SHA-256) and ranges.',
    access: { open },
    // Whole sites update from behind one address, each agent by a link of its own.
    limits: [
      {
        ...{ name: 'agent-download', max: 120, windowSeconds: 60 },
        by: ({ query }: { query: FileQuery }, ip: string) => query.signature ?? ip,
      },
    ],
    produces: ['application/octet-stream'],
    params: Joi.object<{ os: string; arch: string }>({
      os: platformWord().required(),
      arch: architectureWord().required(),
    }),
    query: Joi.object<FileQuery>({
      version: versionWord(),
      component: componentWord().default('agent') as Joi.Schema<Component>,
      expires: Joi.number().integer().min(0).max(4_102_444_800),
      signature: Joi.string().hex().length(64),
    }),
    response: Joi.any(),
    errors: ['NOT_FOUND', 'VERSION_WITHDRAWN', 'RATE_LIMITED'],
    handler: (ctx, { params: { os, arch }, query }) =>
      sendFile(
        ctx,
        { platform: canonicalPlatform(os), architecture: canonicalArchitecture(arch), component: query.component },
        query,
      ),
  }),
];
