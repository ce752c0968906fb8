/** Features: which modules are on for an installation, a partner and an organization, and switching them. */
import { defineModule } from '#core';
import {
  instanceRow,
  instanceTurn,
  moduleShape,
  organizationTurn,
  partnerRow,
  partnerTurn,
  stateShape,
} from './models/switch.ts';

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
  permissions: ['organizations:read', 'organizations:write'],
  audits: ['module.enable', 'module.disable'],
  events: ['features.trial.ending', 'features.trial.ended'],
  schemas: {
    Module: moduleShape,
    ModuleOfInstance: instanceRow,
    ModuleOfPartner: partnerRow,
    ModuleState: stateShape,
    ModuleTurnByOperator: instanceTurn,
    ModuleTurnByOrganization: organizationTurn,
    ModuleTurnByPartner: partnerTurn,
  },
});
