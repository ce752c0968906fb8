/** Doctor says what stands around the plugins of this server. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineContribution } from '#core';
import { isJailed, missingWall, NO_JAIL } from '../services/running/runners/missing-walls.ts';
import { findSandbox } from '../services/running/runners/sandbox.ts';
import { variables } from '../variables.ts';

export default defineContribution('doctor.check', {
  name: 'plugins',
  fix: 'install util-linux and let the server make namespaces; modules/platform/plugins/RUNNERS.md says what stops what',
  async run(config) {
    const place = await mkdtemp(join(tmpdir(), 'quartermaster-doctor-'));
    try {
      const { walls } = await findSandbox(place);
      if (isJailed(walls)) return { text: 'they run in the interpreter, and each process in a jail' };
      const missing = missingWall(walls, variables.of(config));
      return { text: missing ?? `they run in the interpreter alone: ${NO_JAIL}`, warning: true };
    } finally {
      await rm(place, { recursive: true, force: true });
    }
  },
});
