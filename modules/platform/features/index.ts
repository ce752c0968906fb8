/** Features: which modules are on for an installation, a partner and an organization, and switching them. */
import { defineModule } from '#core';

declare module '#core/contract' {
  /** Neither event has an organization; `partnerId` is the partner of the trial. */
  interface Events {
    'features.trial.ending': { partnerId: string; key: string; days: number; expiresAt: string };
    'features.trial.ended': { partnerId: string; key: string };
  }
}

export default defineModule({
  name: 'features',
  title: 'Modules',
  summary: 'Which modules are on for the installation, a partner and an organization, and switching them on and off',
  requires: ['device-commands', 'tenancy'],
  core: true,
  events: ['features.trial.ending', 'features.trial.ended'],
});
