/** Takes the offers of heartbeats and the command `update_agent`, and sees each update through to its end. */

import type { Upgrade } from '#agent-protocol';
import type { Call } from '../link/client.ts';
import { RefusedError } from '../link/client.ts';
import type { Session } from '../link/session.ts';
import { pause, type Timing } from '../timing.ts';
import type { UpdateFault } from './fault.ts';
import type { Link, Wanted } from './manifest.ts';
import type { RecordStore } from './record.ts';
import { type Began, begin, install, prepare, settle, type Updater } from './updater.ts';

/** The program that runs, and what is known of its updates. */
export interface Installed {
  component: 'agent' | 'watchdog';
  version: string;
  platform: Wanted['platform'];
  arch: Wanted['arch'];
  /** The file that runs. */
  program: string;
  record: RecordStore;
}

export interface SelfUpdateParts {
  installed: Installed;
  session: Session;
  call: Call;
  timing: Timing;
  signal: AbortSignal;
  log: (line: string) => void;
  /** Keeps further commands waiting and resolves when none runs; the function it gives lets them run again. */
  quiet(): Promise<() => void>;
  /** Ends this process so that whoever keeps it starts the new program. */
  restart(): void;
}

export class SelfUpdate {
  readonly #parts: SelfUpdateParts;
  readonly #began: Began;
  #settled = false;
  #running: Promise<UpdateFault | undefined> | undefined;
  /** By version: the process's milliseconds before which it is not tried again. */
  readonly #notBefore = new Map<string, number>();

  constructor(parts: SelfUpdateParts, began: Began) {
    this.#parts = parts;
    this.#began = began;
  }

  /** Begins the update that an answer to a heartbeat offers, unless one is under way or has just failed. */
  offered(offer: Upgrade | null | undefined): void {
    if (!offer || this.#running || this.#parts.signal.aborted) return;
    if ((this.#notBefore.get(offer.version) ?? 0) > performance.now()) return;
    const updater = this.#updater(offer.version, offer.url, offer.allowDowngrade === true);
    this.#run(updater, async () => (await prepare(updater)) ?? this.#exchange(updater));
  }

  /**
   * Fetches and tries a version, the latest when none is named. Resolves with it when the program is ready: the exchange
   * and the restart follow when no command runs any more. Undefined where this version runs already. Throws a sentence.
   */
  async wanted(version: string | undefined): Promise<string | undefined> {
    const { installed } = this.#parts;
    const words = `platform=${installed.platform}&arch=${installed.arch}&component=${installed.component}`;
    const to = version ?? (await this.#parts.call<Upgrade>('GET', `/agent-versions/latest?${words}`)).version;
    if (to === installed.version) return undefined;
    if (this.#running) throw new Error('an update is under way already');
    const { agentId } = this.#parts.session.state;
    const url = `/api/v1/agent-versions/${encodeURIComponent(to)}/download?${words}&agentId=${agentId}`;
    const updater = this.#updater(to, url, false);
    let ready: (fault: UpdateFault | undefined) => void = () => undefined;
    const prepared = new Promise<UpdateFault | undefined>((resolve) => {
      ready = resolve;
    });
    this.#run(updater, async () => {
      const fault = await prepare(updater);
      ready(fault);
      return fault ?? this.#exchange(updater);
    });
    const fault = await prepared;
    if (fault) throw new Error(`${fault.reason}: ${fault.message}`);
    return to;
  }

  /** A heartbeat was answered: the running version is good, or the roll-back can be told. */
  async heard(): Promise<void> {
    if (this.#settled) return;
    const { installed, session, log } = this.#parts;
    if (this.#began === 'rolled_back') {
      const known = await installed.record.read();
      if (known) {
        log(`Version ${known.to} did not start; ${installed.version} is back.`);
        await reportRollBack(session, installed.component, known.to);
      }
    } else if (this.#began === 'new') log(`The update to ${installed.version} is complete.`);
    await settle(installed.record);
    this.#settled = true;
  }

  /** Resolves when no update is under way: an exchange of programs must not be broken off. */
  async ended(): Promise<void> {
    await this.#running;
  }

  #run(updater: Updater, work: () => Promise<UpdateFault | undefined>): void {
    const { version } = updater.wanted;
    this.#parts.log(`Updating from ${updater.rules.current} to ${version}.`);
    this.#running = work().then((fault) => {
      this.#running = undefined;
      if (!fault) return undefined;
      this.#notBefore.set(version, performance.now() + this.#parts.timing.retry);
      if (!this.#parts.signal.aborted) this.#parts.log(`No update to ${version}: ${fault.message} (${fault.reason}).`);
      return fault;
    });
  }

  async #exchange(updater: Updater): Promise<UpdateFault | undefined> {
    const release = await this.#parts.quiet();
    const fault = await install(updater);
    if (fault) release();
    return fault;
  }

  #updater(version: string, url: string, allowDowngrade: boolean): Updater {
    const { installed, session, call, timing, signal } = this.#parts;
    const { component, platform, arch, program, record } = installed;
    return {
      ...{ program, record, signal, trialArgs: ['version'], trialMs: timing.trial },
      wanted: { version, component, platform, arch },
      rules: {
        ...{ current: installed.version, allowDowngrade, now: new Date() },
        trustKeys: session.state.manifestTrustKeys,
      },
      link: async () => {
        // The token goes to this server's own routes and nowhere else.
        if (!url.startsWith('/api/v1/')) throw new Error('the offer leads elsewhere');
        return call<Link>('GET', url.slice('/api/v1'.length), { token: session.state.tokens.authToken, signal });
      },
      report: (state, reason) =>
        session.call<void>('POST', 'update-status', {
          component,
          targetVersion: version,
          state,
          ...(reason && { reason }),
        }),
      restart: () => this.#parts.restart(),
    };
  }
}

/** Tells the server that a version did not start. An answer that it knows nothing of it ends the matter as well. */
export async function reportRollBack(session: Session, component: string, targetVersion: string): Promise<void> {
  const report = { component, targetVersion, state: 'rolled_back', reason: 'start_failed' };
  await session.call('POST', 'update-status', report).catch((fault) => {
    if (!(fault instanceof RefusedError && (fault.status === 404 || fault.status === 409))) throw fault;
  });
}

/** Where updates are possible: what the agent did at its begin, and how to make its updater once it knows the server. */
export async function beginUpdates(
  installed: Installed,
): Promise<{ began: Began; attach: (parts: Omit<SelfUpdateParts, 'installed'>) => SelfUpdate }> {
  const began = await begin(installed.record, installed.version);
  return { began, attach: (parts) => new SelfUpdate({ ...parts, installed }, began) };
}

/** A function that waits while commands run, looking now and then, and holds back those that come. */
export function quietOf(
  dispatcher: { readonly busy: boolean; hold(): () => void },
  timing: Timing,
  signal: AbortSignal,
): () => Promise<() => void> {
  return async () => {
    while (dispatcher.busy && !signal.aborted) await pause(timing.poll, signal);
    return dispatcher.hold();
  };
}
