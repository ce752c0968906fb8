/** Modules: which features an installation, a partner and an organization have, and switching them. */
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
  /** Neither has an organization; `partnerId` says whose trial it is. */
  interface Events {
    'modules.trial.ending': { partnerId: string; key: string; days: number; expiresAt: string };
    'modules.trial.ended': { partnerId: string; key: string };
  }
}

export default defineModule({
  name: 'modules',
  title: 'Modules',
  summary: 'Which features an installation, a partner and an organization have, and switching them on and off',
  requires: ['devices', 'tenancy'],
  core: true,
  group: 'platform',
  permissions: ['organizations:read', 'organizations:write'],
  audits: ['module.enable', 'module.disable'],
  events: ['modules.trial.ending', 'modules.trial.ended'],
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
