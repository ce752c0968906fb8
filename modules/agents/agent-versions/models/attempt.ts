/** An attempt to update one program of a device to another version. */
import Joi from 'joi';
import { COMPONENTS } from '#agent-protocol';
import { named } from '#core';

export type OpenState = 'offered' | 'downloading' | 'verifying' | 'installing' | 'restarting';
export type EndState = 'succeeded' | 'rolled_back' | 'failed';
export type AttemptState = OpenState | EndState;
export const OPEN_STATES = ['offered', 'downloading', 'verifying', 'installing', 'restarting'] as const;
export const ATTEMPT_STATES = [...OPEN_STATES, 'succeeded', 'rolled_back', 'failed'] as const;
/** The states that agents may report. Success is not among them: the next heartbeat shows it. */
export const REPORTED = ['downloading', 'verifying', 'installing', 'restarting', 'rolled_back', 'failed'] as const;
export type Reported = (typeof REPORTED)[number];

export const FAILURES = [
  'checksum_mismatch',
  'signature_invalid',
  'download_failed',
  'file_locked',
  'no_space',
  'start_failed',
  'timeout',
] as const;
/** Reasons after which the version is offered again with the next heartbeat. The first few do not count. */
export const TRANSIENT = ['file_locked', 'download_failed'];

/** The states from which each reported state may follow. Steps may be missing, since their reports can be lost. */
export const BEFORE: Record<Reported, readonly OpenState[]> = {
  downloading: ['offered'],
  verifying: ['offered', 'downloading'],
  installing: ['offered', 'downloading', 'verifying'],
  restarting: ['offered', 'downloading', 'verifying', 'installing'],
  rolled_back: OPEN_STATES,
  failed: OPEN_STATES,
};

/** Maximum number of counted attempts for a device and a version. */
export const MAX_ATTEMPTS = 3;
/** Number of failures with a transient reason that do not count, for a device and a version. */
export const FORGIVEN_FAILURES = 3;
/** SQL condition on attempts `a`: a failure that counts towards the maximum of attempts. */
export const COUNTED = `(a.state in ('failed', 'rolled_back') and not a.forgiven
  and coalesce(a.reason, '') <> all ('{withdrawn,superseded}'))`;

/** The programs on a device that updates replace. */
export type Updatable = 'agent' | 'watchdog';
export interface Attempt {
  id: string;
  orgId: string;
  deviceId: string;
  component: Updatable;
  fromVersion: string;
  toVersion: string;
  attempt: number;
  state: AttemptState;
  reason: string | null;
  startedAt: Date;
  finishedAt: Date | null;
}
export const ATTEMPT_FIELDS = `a.id, a.org_id as "orgId", a.device_id as "deviceId", a.component,
  a.from_version as "fromVersion", a.to_version as "toVersion", a.attempt, a.state, a.reason, a.started_at as "startedAt",
  a.finished_at as "finishedAt"`;

export const attemptShape = named(
  'AgentUpdateAttempt',
  Joi.object({
    id: Joi.string().uuid().required(),
    orgId: Joi.string().uuid().required(),
    deviceId: Joi.string().uuid().required(),
    component: Joi.string()
      .valid(...COMPONENTS)
      .required(),
    fromVersion: Joi.string().required(),
    toVersion: Joi.string().required(),
    attempt: Joi.number().integer().required(),
    state: Joi.string()
      .valid(...ATTEMPT_STATES)
      .required(),
    reason: Joi.string().allow(null).required(),
    startedAt: Joi.date().iso().required(),
    finishedAt: Joi.date().iso().allow(null).required(),
  }),
);
