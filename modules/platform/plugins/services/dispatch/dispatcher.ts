/** Hands over what is due, for as long as a worker process lives. */
import { type StartServices, startDispatcher } from '#core';
import { HOST } from '../running/host.ts';
import { attempt, type Result } from './attempts.ts';
import { type Claim, claim, PER_INSTALLATION } from './claims.ts';
import { DUE } from './listeners.ts';
import { concludeResults, writeResults } from './results.ts';

/** Resolves with what stops it. */
export async function startHandingOver(services: StartServices): Promise<() => Promise<void>> {
  const host = services.services.get(HOST);
  const processes = services.services.config.plugins.maxProcesses;
  const stop = await startDispatcher<Claim, Result>(services, {
    name: 'plugins',
    hint: DUE,
    places: { most: processes * 2, each: PER_INSTALLATION, receiverOf: ({ installationId }) => installationId },
    write: writeResults,
    claim: (ctx, room) => claim(ctx, room, services.services.modules.orgsWithout('plugins')),
    attempt: (one) => attempt(host, one),
    conclude: (results) => concludeResults(host, results),
  });
  return async () => {
    await stop();
    await host.logs.flush();
  };
}
