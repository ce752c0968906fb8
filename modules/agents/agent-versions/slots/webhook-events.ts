/** What webhooks are told of updates of the agents. */
import Joi from 'joi';
import { defineFilling } from '#core';
import type { Events } from '#core/contract';

const component = Joi.string().valid('agent', 'helper', 'watchdog').required();
const version = Joi.string().required();
const attempt = { attemptId: Joi.string().uuid().required(), component, from: version, to: version };
const rollout = { haltId: Joi.string().uuid().required(), component, version };

export default [
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'agent-versions.update.succeeded',
      kind: 'agent.update_succeeded',
      summary: 'An agent was updated',
      shape: Joi.object({ ...attempt }),
      example: { attemptId: '7c9e6679-7425-40de-944b-000000000002', component: 'agent', from: '1.0.0', to: '1.1.0' },
      snapshot: ({ attemptId, component, from, to }: Events['agent-versions.update.succeeded']) => ({
        attemptId,
        component,
        from,
        to,
      }),
    },
  }),
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'agent-versions.update.failed',
      kind: 'agent.update_failed',
      summary: 'An update of an agent failed',
      shape: Joi.object({
        ...attempt,
        state: Joi.string().required(),
        reason: Joi.string().allow(null).required(),
        over: Joi.boolean()
          .required()
          .description('The version is not offered to this device again, unless somebody asks for another try'),
      }),
      example: {
        attemptId: '7c9e6679-7425-40de-944b-000000000002',
        component: 'agent',
        from: '1.0.0',
        to: '1.1.0',
        state: 'failed',
        reason: 'checksum_mismatch',
        over: false,
      },
      snapshot: ({ attemptId, component, from, to, state, reason, over }: Events['agent-versions.update.failed']) => ({
        attemptId,
        component,
        from,
        to,
        state,
        reason,
        over,
      }),
    },
  }),
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'agent-versions.rollout.halted',
      kind: 'agent.rollout_halted',
      summary: 'A version is not offered any more because updates to it fail',
      shape: Joi.object({
        ...rollout,
        attempts: Joi.number().integer().required(),
        failures: Joi.number().integer().required(),
      }),
      example: {
        haltId: '7c9e6679-7425-40de-944b-000000000002',
        component: 'agent',
        version: '1.1.0',
        attempts: 20,
        failures: 5,
      },
      snapshot: ({ haltId, component, version, attempts, failures }: Events['agent-versions.rollout.halted']) => ({
        haltId,
        component,
        version,
        attempts,
        failures,
      }),
    },
  }),
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'agent-versions.rollout.resumed',
      kind: 'agent.rollout_resumed',
      summary: 'A version is offered again',
      shape: Joi.object({ ...rollout }),
      example: { haltId: '7c9e6679-7425-40de-944b-000000000002', component: 'agent', version: '1.1.0' },
      snapshot: ({ haltId, component, version }: Events['agent-versions.rollout.resumed']) => ({
        haltId,
        component,
        version,
      }),
    },
  }),
];
