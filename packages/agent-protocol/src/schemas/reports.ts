/** The bodies of reports: patches by source, security, sessions, connections, processes; and values of custom fields. */
import Joi from 'joi';
import {
  type Connection,
  type LoginSession,
  MAX_CONNECTIONS,
  MAX_PATCHES,
  MAX_PROCESSES,
  MAX_SESSIONS,
  MAX_VALUE_CHARACTERS,
  MAX_VALUES,
  PATCH_SOURCES,
  type Patch,
  type PatchReport,
  type ProcessSample,
} from '../reports.ts';
import { snapshotKeys } from './inventory.ts';
import { address, amount, count, flag, instant, label, lenient, open, percent, storable, text } from './values.ts';

const list = (max: number, item: Joi.Schema) => Joi.array().max(max).items(item);
const words = (max: number) => lenient(text(max));

export interface ReportBody {
  snapshotHash?: string;
  complete?: boolean;
  [field: string]: unknown;
}
export type PatchesBody = ReportBody & PatchReport;

const patch = open<Patch>({
  externalId: label(255).required(),
  source: Joi.string()
    .valid(...PATCH_SOURCES)
    .required(),
  title: words(500),
  severity: words(20),
  category: words(100),
  version: words(100),
  vendor: words(255),
  packageId: words(255),
  scope: words(20),
  requiresReboot: flag(),
  installedAt: lenient(instant()),
});
export const patchesBody = open<PatchesBody>({
  ...snapshotKeys,
  coveredSources: Joi.array()
    .items(Joi.string().valid(...PATCH_SOURCES))
    .unique()
    .min(1)
    .max(PATCH_SOURCES.length)
    .required(),
  pending: list(MAX_PATCHES, patch),
  installed: list(MAX_PATCHES, patch),
  scanId: words(64),
  rebootPending: flag(),
}).custom((body: PatchesBody, helpers) =>
  (body.pending?.length ?? 0) + (body.installed?.length ?? 0) <= MAX_PATCHES
    ? body
    : helpers.error('array.max', { limit: MAX_PATCHES }),
);

export const securityBody = open<ReportBody>({
  ...snapshotKeys,
  providerId: words(50),
  avProducts: list(
    10,
    open({
      name: label(255).required(),
      providerId: words(50),
      version: words(100),
      state: lenient(Joi.string().valid('on', 'off', 'snoozed', 'expired', 'unknown')),
      upToDate: flag(),
      isPrimary: flag(),
    }),
  ),
  providerVersion: words(100),
  definitionsVersion: words(100),
  definitionsAt: lenient(instant()),
  realTimeProtection: flag(),
  tamperProtection: flag(),
  firewallEnabled: flag(),
  firewallProfiles: list(
    20,
    open({ name: label(100).required(), enabled: flag(), inbound: words(20), outbound: words(20) }),
  ),
  encryptionStatus: lenient(Joi.string().valid('encrypted', 'partial', 'unencrypted', 'unknown')),
  encryptionVolumes: list(
    100,
    open({
      mount: label(500).required(),
      encrypted: flag(),
      method: lenient(Joi.string().valid('bitlocker', 'filevault', 'luks', 'other', 'none')),
      percent: lenient(percent()),
      protectionOn: flag(),
      keyEscrowed: flag(),
    }),
  ),
  tpmPresent: flag(),
  secureBoot: flag(),
  passwordPolicy: lenient(
    open({
      minLength: lenient(count()),
      complexity: flag(),
      maxAgeDays: lenient(count()),
      lockoutThreshold: lenient(count()),
      historyCount: lenient(count()),
    }),
  ),
  localAdmins: list(
    200,
    open({
      username: label(255).required(),
      isBuiltIn: flag(),
      enabled: flag(),
      lastLoginAt: lenient(instant()),
      passwordAgeDays: lenient(count()),
      isDomain: flag(),
    }),
  ),
  listeningPorts: list(
    500,
    open({
      port: Joi.number().integer().min(0).max(65_535).required(),
      protocol: words(10),
      process: words(255),
      scope: lenient(Joi.string().valid('any', 'loopback')),
    }),
  ),
  lastScanAt: lenient(instant()),
  lastScanType: words(20),
  rebootPending: flag(),
  gatekeeperEnabled: flag(),
});
export const sessionsBody = open<ReportBody>({
  ...snapshotKeys,
  sessions: list(
    MAX_SESSIONS,
    open<LoginSession>({
      username: label(255).required(),
      type: words(50),
      state: words(50),
      startedAt: lenient(instant()),
      idleSeconds: lenient(amount()),
      from: words(255),
    }),
  ).required(),
});
export const connectionsBody = open<ReportBody>({
  ...snapshotKeys,
  connections: list(
    MAX_CONNECTIONS,
    open<Connection>({
      protocol: label(10).required(),
      localAddress: lenient(address()),
      localPort: lenient(count()),
      remoteAddress: lenient(address()),
      remotePort: lenient(count()),
      state: words(30),
      pid: lenient(count()),
      process: words(255),
    }),
  ).required(),
});
export const processesBody = open<ReportBody>({
  ...snapshotKeys,
  processes: list(
    MAX_PROCESSES,
    open<ProcessSample>({
      pid: count().required(),
      name: label(255).required(),
      cpuPercent: lenient(amount()),
      memoryMb: lenient(amount()),
      user: words(255),
      startedAt: lenient(instant()),
    }),
  ).required(),
});

export interface AgentValues {
  values: Record<string, unknown>;
}
/** Keys and values as scripts print them; the device's organization decides which fields they may write. */
export const agentValues = open<AgentValues>({
  values: Joi.object()
    .pattern(Joi.string().max(100), Joi.alternatives(text(MAX_VALUE_CHARACTERS), Joi.number(), Joi.boolean(), null))
    .min(1)
    .max(MAX_VALUES)
    .custom(storable)
    .required(),
});
