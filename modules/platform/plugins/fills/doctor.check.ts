/** Doctor says what stands around the plugins of this server. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineContribution } from '#core';
import { Broker } from '../services/running/broker/broker.ts';
import { isJailed, missingWall, NO_JAIL } from '../services/running/runners/missing-walls.ts';
import type { Walls } from '../services/running/runners/runner.ts';
import { findSandbox } from '../services/running/runners/sandbox.ts';
import { type PluginSettings, variables } from '../variables.ts';

export default defineContribution('doctor.check', {
  name: 'plugins',
  fix: 'install util-linux and let the server make namespaces; modules/platform/plugins/RUNNERS.md says what stops what',
  async run(config) {
    const settings = variables.of(config);
    const { broker } = settings;
    if (broker) return sentence(await askBroker(broker), settings, ` by the broker at ${broker}`);
    const place = await mkdtemp(join(tmpdir(), 'quartermaster-doctor-'));
    try {
      return sentence((await findSandbox(place)).walls, settings, '');
    } finally {
      await rm(place, { recursive: true, force: true });
    }
  },
});

/** Throws where it cannot be reached. */
async function askBroker(socket: string): Promise<Walls> {
  const broker = new Broker({ place: '', partnerShare: 1, processors: 1 }, () => undefined, socket);
  try {
    return (await broker.isReady()).walls;
  } finally {
    broker.stop();
  }
}

function sentence(walls: Walls, settings: PluginSettings, by: string): { text: string; warning?: true } {
  if (isJailed(walls)) return { text: `they run${by} in the interpreter, and each process in a jail` };
  const missing = missingWall(walls, settings);
  return { text: missing ?? `they run${by} in the interpreter alone: ${NO_JAIL}`, warning: true };
}
