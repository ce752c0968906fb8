/** One try to bring one program of a device to another version. */
import Joi from 'joi';
import { COMPONENTS } from '#agent-protocol';
import { named } from '#core';

export type OpenState = 'offered' | 'downloading' | 'verifying' | 'installing' | 'restarting';
export type EndState = 'succeeded' | 'rolled_back' | 'failed';
export type AttemptState = OpenState | EndState;
export const OPEN_STATES = ['offered', 'downloading', 'verifying', 'installing', 'restarting'] as const;
export const ATTEMPT_STATES = [...OPEN_STATES, 'succeeded', 'rolled_back', 'failed'] as const;
/** What an agent may say; success is what its heartbeat shows. */
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
/** Offered again with the next beat, and forgiven three times a version. */
export const TRANSIENT = ['file_locked', 'download_failed'];

/** Which states may lead to one; each step may be left out, since its report may be lost. */
export const BEFORE: Record<Reported, readonly OpenState[]> = {
  downloading: ['offered'],
  verifying: ['offered', 'downloading'],
  installing: ['offered', 'downloading', 'verifying'],
  restarting: ['offered', 'downloading', 'verifying', 'installing'],
  rolled_back: OPEN_STATES,
  failed: OPEN_STATES,
};

export const MOST_ATTEMPTS = 3;
export const FORGIVEN = 3;
/** SQL over attempts `a`: an end that speaks against trying once more. */
export const COUNTED = `(a.state in ('failed', 'rolled_back') and not a.forgiven
  and coalesce(a.reason, '') <> all ('{withdrawn,superseded}'))`;

/** The programs on a device that updates replace. */
export type Updatable = 'agent' | 'helper' | 'watchdog';
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
