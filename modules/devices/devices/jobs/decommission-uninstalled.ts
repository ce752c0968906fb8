/** Decommissions devices whose agent said goodbye a day ago, where their organization wants that. */
import Joi from 'joi';
import { defineJob } from '#core';
import { decommissionUninstalled } from '../services/life/uninstalls.ts';

declare module '#core/contract' {
  interface Jobs {
    'devices/decommission-uninstalled': Record<string, never>;
  }
}

export default defineJob<Record<string, never>>({
  name: 'devices/decommission-uninstalled',
  summary: 'Decommissions devices whose agent said goodbye a day ago',
  scope: 'platform',
  payload: Joi.object({}),
  schedule: { cron: '37 * * * *' },
  maxAttempts: 3,
  run: decommissionUninstalled,
});
