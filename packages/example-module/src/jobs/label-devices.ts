/** Gives a number to every device of an organization that has none. */
import { defineJob } from '@quartermaster/module-kit';
import Joi from 'joi';
import { labelDevices } from '../services/numbers.ts';

type Payload = Record<string, never>;
declare module '@quartermaster/module-kit/contract' {
  interface Jobs {
    'acme-asset-labels/label-devices': Payload;
  }
}

export default defineJob<Payload>({
  name: 'acme-asset-labels/label-devices',
  summary: 'Gives a number to every device that has none',
  scope: 'tenant',
  payload: Joi.object({}),
  maxAttempts: 5,
  async run(ctx) {
    if (ctx.scope.orgId) await labelDevices(ctx, ctx.scope.orgId);
  },
});
