/** Features: which modules are on for an installation, a partner and an organization, and switching them. */
import { defineModule } from '#core';

export default defineModule({
  name: 'features',
  title: 'Modules',
  summary: 'Which modules are on for the installation, a partner and an organization, and switching them on and off',
  requires: ['device-commands', 'tenancy'],
  core: true,
});
