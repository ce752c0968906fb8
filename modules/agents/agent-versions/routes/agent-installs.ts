/** What a machine without an agent may download: installation scripts and the programs that they install. */
import Joi from 'joi';
import type { Component } from '#agent-protocol';
import { defineRoute } from '#core';
import {
  architectureWord,
  canonicalArchitecture,
  canonicalPlatform,
  componentWord,
  platformWord,
  versionWord,
} from '../models/coordinates.ts';
import { type FileQuery, sendFile } from '../services/downloads.ts';
import { sendScript } from '../services/install-scripts.ts';

const open = 'a machine without an agent has no credentials, and nothing here is secret';
const limits = [{ name: 'agent-install', max: 60, windowSeconds: 60, by: 'ip' as const }];
const script = { access: { open }, limits, produces: ['text/x-shellscript'], response: Joi.string() };

export default [
  defineRoute({
    method: 'GET',
    path: '/agents/install.sh',
    summary: 'Returns the script that installs and enrolls an agent on Linux or macOS',
    ...script,
    handler: (ctx) => sendScript(ctx, 'install.sh'),
  }),
  defineRoute({
    method: 'GET',
    path: '/agents/install.ps1',
    summary: 'Returns the script that installs and enrolls an agent on Windows',
    ...script,
    produces: ['text/plain'],
    handler: (ctx) => sendScript(ctx, 'install.ps1'),
  }),
  defineRoute({
    method: 'GET',
    path: '/agents/uninstall.sh',
    summary: 'Returns the script that removes an agent from Linux or macOS',
    ...script,
    handler: (ctx) => sendScript(ctx, 'uninstall.sh'),
  }),
  defineRoute({
    method: 'GET',
    path: '/agents/uninstall.ps1',
    summary: 'Returns the script that removes an agent from Windows',
    ...script,
    produces: ['text/plain'],
    handler: (ctx) => sendScript(ctx, 'uninstall.ps1'),
  }),
  defineRoute({
    method: 'GET',
    path: '/agents/download/{os}/{arch}',
    summary: 'Downloads a program: the file, or a redirect to it',
    description: 'Without a version, the latest. Files have Content-Length and ETag (the SHA-256) and support ranges.',
    access: { open },
    // All agents of a site may share one address, but each has its own signed link.
    limits: [
      {
        ...{ name: 'agent-download', max: 120, windowSeconds: 60 },
        by: ({ query }: { query: FileQuery }, ip: string) => query.signature ?? ip,
      },
    ],
    produces: ['application/octet-stream'],
    params: Joi.object<{ os: string; arch: string }>({
      os: platformWord().required().description('linux, darwin or windows, or one of their usual aliases'),
      arch: architectureWord().required().description('amd64 or arm64, or one of their usual aliases'),
    }),
    query: Joi.object<FileQuery>({
      version: versionWord().description('Default: the latest promoted version'),
      component: componentWord()
        .default('agent')
        .description('Which program: agent or watchdog') as Joi.Schema<Component>,
      expires: Joi.number()
        .integer()
        .min(0)
        .max(4_102_444_800)
        .description('Of a signed link: when it expires, in seconds since 1970'),
      signature: Joi.string().hex().length(64).description('Of a signed link: its signature'),
    }),
    response: Joi.any(),
    answers: { 302: Joi.any() },
    errors: ['NOT_FOUND', 'VERSION_WITHDRAWN', 'RATE_LIMITED', 'UNAVAILABLE'],
    handler: (ctx, { params: { os, arch }, query }) =>
      sendFile(
        ctx,
        { platform: canonicalPlatform(os), architecture: canonicalArchitecture(arch), component: query.component },
        query,
      ),
  }),
];
