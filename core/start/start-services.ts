/** What modules use outside of requests and jobs. */
import { EVERYWHERE, NOBODY } from '../context/index.ts';
import type { StartServices } from '../contract/index.ts';
import { asOrganization, type TaskServices } from '../jobs/task.ts';
import type { ModuleStates } from '../modules/states.ts';
import { runUnitOfWork } from '../work/index.ts';
import type { StartedLive } from './live.ts';
import type { PlatformOptions } from './options.ts';

export function startServicesFor(
  { log, clocks = true }: PlatformOptions,
  tasks: Pick<TaskServices, 'work' | 'log' | 'partnerOf'>,
  { notices, hints }: Pick<StartedLive, 'notices' | 'hints'>,
  states: ModuleStates,
): StartServices {
  const { work } = tasks;
  const actor = { ...NOBODY, kind: 'system' as const };
  return {
    log,
    services: work.services,
    clocks,
    asPlatform: (run) =>
      runUnitOfWork(
        work,
        { actor, scope: EVERYWHERE, requestId: 'start', log, role: 'platform', background: true },
        run,
      ),
    asOrganization: (orgId, as, run, causation) => asOrganization(tasks, orgId, as, run, causation),
    hint(channel, payload) {
      notices.deliver(channel, payload);
      hints.tell(channel, payload);
    },
    onNotice: (channel, listener) => notices.on(channel, listener),
    onNoticesLost: (listener) => notices.onLost(listener),
    onModulesChanged: (listener) => states.onChange(listener),
  };
}
