/** Doctor says whether plugins can run on this server. */
import { defineContribution } from '#core';
import { NO_WALLS } from '../services/running/runners/missing-walls.ts';
import { findSandbox } from '../services/running/runners/sandbox.ts';
import { variables } from '../variables.ts';

export default defineContribution('doctor.check', {
  name: 'plugins',
  fix: 'install util-linux and let the server make namespaces; modules/platform/plugins/RUNNERS.md says what stops what',
  async run(config) {
    const { network } = (await findSandbox()).walls;
    if (network === 'none') return { text: 'their processes are cut off from the network' };
    const { sandbox } = variables.of(config);
    const text = sandbox === 'strict' ? NO_WALLS : 'they run with the whole network of this server within reach';
    return { text, warning: true };
  },
});
