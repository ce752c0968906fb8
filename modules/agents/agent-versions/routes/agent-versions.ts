/** /agent-versions: the catalogue, downloads, and the status of rollouts. */
import Joi from 'joi';
import type { Component, Coordinates } from '#agent-protocol';
import { defineRoute, pageOf, pageQuery } from '#core';
import { offeredShape, VERSION_STATES, versionShape } from '../models/agent-version.ts';
import { attemptShape } from '../models/attempt.ts';
import {
  architectureWord,
  canonicalArchitecture,
  canonicalPlatform,
  componentWord,
  platformWord,
  versionWord,
} from '../models/coordinates.ts';
import { mustBeCaller } from '../services/callers.ts';
import { type Channel, downloadLink, latestVersion, shown } from '../services/downloads.ts';
import { promoteVersion, withdrawVersion } from '../services/promotions.ts';
import { syncRemote } from '../services/releases/syncs.ts';
import { rolloutStatus, type StatusQuery } from '../services/rollout/statuses.ts';
import { listVersions, type VersionQuery } from '../services/version-lists.ts';

interface Asked {
  platform: string;
  arch: string;
  component: Component;
}
const asked = {
  platform: platformWord().required().description('linux, darwin or windows, or one of their usual aliases'),
  arch: architectureWord().required().description('amd64 or arm64, or one of their usual aliases'),
  component: componentWord().default('agent').description('Which program: agent or watchdog'),
};
const coordinates = ({ platform, arch, component }: Asked): Coordinates => ({
  ...{ platform: canonicalPlatform(platform), architecture: canonicalArchitecture(arch), component },
});
const idParams = Joi.object<{ id: string }>({ id: Joi.string().uuid().required() });
const operator = { permission: 'devices:write', scopes: ['system' as const], mfa: true };
const publicLimit = { name: 'agent-versions', max: 120, windowSeconds: 60, by: 'ip' as const };

export default [
  defineRoute({
    method: 'GET',
    path: '/agent-versions/latest',
    summary: 'Returns the version to install on a machine, with its checksum and signed manifest',
    access: { open: 'installers call it before the machine has an agent; the answer is the same for all callers' },
    limits: [publicLimit],
    query: Joi.object<Asked & { channel: Channel }>({
      ...asked,
      channel: Joi.string()
        .valid('stable', 'candidate')
        .default('stable')
        .description('candidate includes prereleases'),
    }),
    response: offeredShape,
    errors: ['NOT_FOUND', 'RATE_LIMITED'],
    handler: (ctx, { query }) => latestVersion(ctx, coordinates(query), query.channel),
  }),
  defineRoute({
    method: 'GET',
    path: '/agent-versions/status',
    summary: 'Shows the progress of updates, the devices that fail, and halted rollouts',
    access: { permission: 'devices:read' },
    query: Joi.object<StatusQuery>({ orgId: Joi.string().uuid(), siteId: Joi.string().uuid() }),
    response: Joi.object({
      data: Joi.object({
        versions: Joi.array().items(Joi.object().unknown()).required(),
        attempts: Joi.object().unknown().required().description('Attempts of the last 30 days by state'),
        failing: Joi.array()
          .items(attemptShape.keys({ hostname: Joi.string().required() }))
          .required(),
        halted: Joi.array().items(Joi.object().unknown()).required(),
      }).required(),
    }),
    errors: ['SITE_ACCESS_DENIED'],
    handler: (ctx, { query }) => rolloutStatus(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/agent-versions/{version}/download',
    summary: 'Returns a short-lived link to a version, with its checksum and signed manifest',
    description: 'Requires the token of an agent, with its agentId in the query, or an access token.',
    access: { open: 'the handler accepts agents and signed-in users, which no single kind of access does' },
    // All agents of a site may share one address. Wrong tokens are counted by the authentication of agents.
    limits: [
      {
        ...publicLimit,
        name: 'agent-version-links',
        by: ({ query }: { query: Asked & { agentId?: string } }, ip: string) => query.agentId ?? ip,
      },
    ],
    params: Joi.object<{ version: string }>({ version: versionWord().required() }),
    query: Joi.object<Asked & { agentId?: string }>({
      ...asked,
      agentId: Joi.string().hex().length(64).description('The id of the calling agent'),
    }),
    response: Joi.object({
      url: Joi.string().required(),
      checksum: Joi.string().required(),
      fileSize: Joi.number().integer().required(),
      manifest: Joi.string().required(),
      manifestSignature: Joi.string().required(),
      signingKeyId: Joi.string().required(),
    }),
    errors: ['UNAUTHENTICATED', 'NOT_FOUND', 'MANIFEST_NOT_TRUSTED', 'VERSION_WITHDRAWN', 'RATE_LIMITED'],
    async handler(ctx, { params, query, headers }) {
      await mustBeCaller(ctx, headers, query.agentId);
      return downloadLink(ctx, params.version, coordinates(query));
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/agent-versions',
    summary: 'Lists versions, newest first, with how many devices run each',
    access: { permission: 'devices:read' },
    query: Joi.object<VersionQuery>({
      ...pageQuery(100),
      component: componentWord().description('Only of this program: agent or watchdog'),
      platform: platformWord().description('Only for linux, darwin or windows'),
      architecture: architectureWord().description('Only for amd64 or arm64'),
      state: Joi.string()
        .valid(...VERSION_STATES)
        .description('Only in this state'),
    }),
    response: pageOf(versionShape.keys({ deviceCount: Joi.number().integer().required() })),
    handler: (ctx, { query }) => listVersions(ctx, query),
  }),
  defineRoute({
    method: 'POST',
    path: '/agent-versions/sync-remote',
    summary: 'Verifies the programs of a release and registers them',
    description: 'Programs that are already registered are skipped. If one program is invalid, none is registered.',
    access: operator,
    audit: 'agent_version.sync',
    work: 'none',
    query: Joi.object<{ version?: string }>({
      version: versionWord().description('Default: the newest version that is not a prerelease'),
    }),
    response: Joi.object({
      version: Joi.string().required(),
      synced: Joi.array().items(Joi.string()).required(),
      skipped: Joi.array()
        .items(Joi.object({ name: Joi.string().required(), reason: Joi.string().required() }))
        .required(),
    }),
    errors: [
      ...['NOT_FOUND', 'RELEASE_SOURCE_MISSING', 'MANIFEST_INVALID', 'CHECKSUM_MISMATCH', 'VERSION_CHANGED'],
      'UPSTREAM_ERROR',
    ],
    handler: (ctx, { query }) => syncRemote(ctx, query.version ?? null),
  }),
  defineRoute({
    method: 'POST',
    path: '/agent-versions/{id}/promote',
    summary: 'Promotes a registered version, so that it is offered',
    access: operator,
    audit: 'agent_version.promote',
    params: idParams,
    payload: Joi.object<{ force?: boolean }>({ force: Joi.boolean().description('Required for a prerelease') }).allow(
      null,
    ),
    response: Joi.object({ data: versionShape.required() }),
    errors: ['NOT_FOUND', 'INVALID_STATE', 'PRERELEASE'],
    handler: async (ctx, { params, payload }) => ({
      data: shown(ctx, await promoteVersion(ctx, params.id, payload?.force ?? false)),
    }),
  }),
  defineRoute({
    method: 'POST',
    path: '/agent-versions/{id}/withdraw',
    summary: 'Withdraws a version permanently; the version before it becomes the latest',
    access: operator,
    audit: 'agent_version.withdraw',
    params: idParams,
    response: Joi.object({ data: versionShape.required() }),
    errors: ['NOT_FOUND', 'INVALID_STATE'],
    handler: async (ctx, { params }) => ({ data: shown(ctx, await withdrawVersion(ctx, params.id)) }),
  }),
];
