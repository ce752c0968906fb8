/** The main loop of an enrolled agent: send heartbeats and inventory and run commands until it must stop. */

import type { AgentConfig, AgentHeartbeat, Command, ReceivedAnswer, WatchdogHeartbeat } from '#agent-protocol';
import type { AgentOptions } from './agent-options.ts';
import { Dispatcher } from './dispatcher.ts';
import { isOn } from './features.ts';
import { Health } from './health.ts';
import { heartbeatBuilder } from './heartbeat.ts';
import { Inventory } from './inventory.ts';
import { RefusedError } from './link/client.ts';
import { Diary } from './link/diary.ts';
import { Outbox } from './link/outbox.ts';
import { confirmTokens, rotateTokens } from './link/rotation.ts';
import { Session } from './link/session.ts';
import { Uplink } from './link/uplink.ts';
import { MetricsSchedule } from './metrics-schedule.ts';
import { schedules } from './schedules.ts';
import { Journal } from './store/journal.ts';
import { Backoff, pause } from './timing.ts';
import { quietOf, type SelfUpdate } from './update/self-update.ts';
import { TrustKeys } from './update/trust.ts';

/**
 * `stopped` by its user, `gone` because the server purged the device, `uninstalled` because it was asked to, `updated`
 * because another program stands in its place.
 */
export type StopReason = 'stopped' | 'gone' | 'uninstalled' | 'updated';

const FULL_BATCH = 10;

/** Runs until stopped; throws when there is no state or it cannot be read. */
export async function runAgent(given: AgentOptions): Promise<StopReason> {
  const diary = new Diary(given.log);
  const ending = new AbortController();
  const signal = AbortSignal.any([given.signal, ending.signal]);
  const options = { ...given, log: diary.log, signal };
  const parts = await assemble(options, diary, (why) => {
    if (!signal.aborted) ending.abort(why);
  });
  const linked = parts.uplink.keep();
  await sendHeartbeats(options, parts);
  await parts.updates?.ended();
  await parts.dispatcher.ended();
  const reason: StopReason = ending.signal.aborted ? ending.signal.reason : 'stopped';
  await sendLastResults(options, parts, reason);
  parts.uplink.close();
  await linked;
  if (reason === 'uninstalled') {
    await parts.session.forget();
    await options.journalStore.clear();
    await options.systemEvents?.store.clear();
  }
  return reason;
}

/** Creates the parts of an agent from its stored state. */
async function assemble(options: AgentOptions, diary: Diary, end: Parts['end']): Promise<Parts> {
  const { call, store, timing, machine, signal, log } = options;
  const state = await store.read();
  if (!state) throw new Error('This agent is not enrolled; run "enroll" first.');
  const session = new Session(call, store, state, log, options.transfers);
  diary.attach(session);
  const journal = await Journal.open(options.journalStore);
  const outbox = new Outbox(journal, session, timing, signal, log);
  const inventory = new Inventory(session, machine);
  const health = new Health();
  const { osType } = await machine.identity();
  const dispatcher = new Dispatcher({
    journal,
    outbox,
    session,
    handlers: options.handlers,
    host: {
      osType,
      allowPower: options.allowPower,
      killGraceMs: timing.killGrace,
      refreshInventory: () => inventory.send(),
      setAutoUpdate: (enabled) => session.change({ autoUpdateEnabled: enabled }),
      ...(options.remove && { remove: options.remove }),
      ...(options.customFields && { customFields: options.customFields }),
      setLogLevel: (...level) => diary.setLevel(...level),
      ...(options.updates && { updateAgent: async (version: string | undefined) => updates?.wanted(version) }),
      sendContent: (...what) => session.sendContent(...what),
      fetchContent: (...what) => session.fetchContent(...what),
    },
    signal,
    log,
    health,
    onUninstall: () => end('uninstalled'),
  });
  const restart = () => end('updated');
  const quiet = quietOf(dispatcher, timing, signal);
  const updates = options.updates?.({ session, call, timing, signal, log, quiet, restart });
  const uplink = new Uplink({ ...options, session, outbox, dispatcher });
  return { session, outbox, inventory, diary, health, dispatcher, uplink, updates, trust: new TrustKeys(log), end };
}

/** Sends the waiting results and log lines once more, and says goodbye; an agent that is uninstalled tries for longer. */
async function sendLastResults(
  { timing, speaker }: AgentOptions,
  { outbox, diary, session }: Parts,
  reason: StopReason,
): Promise<void> {
  const patience = reason === 'uninstalled' ? timing.lastWords : 0;
  const late = new AbortController();
  const lines = diary.send().catch(() => undefined);
  // An agent that makes way for its next version, or whose watchdog speaks, leaves the device online.
  const bye = reason === 'stopped' && !speaker ? session.call('POST', 'stop', {}).catch(() => undefined) : undefined;
  const farewell = Promise.all([outbox.farewell(patience), lines, bye]);
  await Promise.race([farewell, pause(Math.max(patience, timing.farewell), late.signal)]);
  late.abort();
}

interface Parts {
  session: Session;
  outbox: Outbox;
  inventory: Inventory;
  diary: Diary;
  health: Health;
  dispatcher: Dispatcher;
  uplink: Uplink;
  updates: SelfUpdate | undefined;
  trust: TrustKeys;
  end: (why: StopReason) => void;
}

async function sendHeartbeats(options: AgentOptions, parts: Parts): Promise<void> {
  const { signal, timing, log } = options;
  const { session, outbox } = parts;
  const { speaker } = options;
  const load = loadOf(options, parts);
  const describe = heartbeatBuilder(options.machine, {
    powerCommands: options.allowPower,
    status: () => parts.health.status,
    metrics: () => load.take(),
  });
  const build = (): Promise<AgentHeartbeat | WatchdogHeartbeat> =>
    speaker ? speaker.heartbeat(session) : describe(session.state.autoUpdateEnabled);
  const backoff = new Backoff(timing);
  const sendWhatIsDue = schedules(options, parts);
  const poll = poller(options, parts);
  signal.addEventListener('abort', () => load.stop(), { once: true });
  let working = false;
  while (!signal.aborted) {
    try {
      const confirmed = await confirmTokens(session, log).catch((fault) => {
        log(`New tokens wait for the server: ${sentenceOf(fault)}`, 'warn');
        return false;
      });
      if (confirmed) parts.uplink.renew();
      const request = await build();
      const answer = await session.call<ReceivedAnswer>('POST', 'heartbeat', request, { signal });
      session.heard();
      backoff.reset();
      if (!working) log(`Connected to ${session.state.server} as ${session.state.agentId.slice(0, 12)}….`);
      working = true;
      options.pulse?.heard();
      await speaker?.heard(answer, session);
      outbox.wake();
      await obey(answer, options, parts, poll);
      await takeOffers(answer, options, parts);
      if (session.condition === 'ok' && !signal.aborted) sendWhatIsDue();
      await pause(nextHeartbeatMs(answer, session.state.config, options.intervalSeconds), signal);
    } catch (fault) {
      if (session.condition === 'gone') {
        log('The server no longer knows this device; the agent stops.', 'error');
        return parts.end('gone');
      }
      working = false;
      await pause(afterFault(fault, session, backoff, options), signal);
    }
  }
}

/** Heartbeats go on without load when it cannot be measured. */
function loadOf({ machine, log }: AgentOptions, { session, health }: Parts): MetricsSchedule {
  return new MetricsSchedule(
    () => machine.metrics(),
    () => session.state.config.metricsCollectionIntervalSeconds,
    (fault) => {
      if (fault === undefined) return health.works('metrics');
      health.fails('metrics');
      log(`The load was not measured: ${sentenceOf(fault)}.`, 'warn');
    },
  );
}

/** Milliseconds to wait after a failed heartbeat; a quarantined agent keeps its usual interval. */
function afterFault(fault: unknown, session: Session, backoff: Backoff, options: AgentOptions): number {
  const { timing, log, signal } = options;
  if (signal.aborted) return 0;
  const sentence = sentenceOf(fault);
  if (session.condition === 'refused') {
    const minutes = Math.round(timing.refused / 60_000);
    log(`The server refuses this agent (${sentence}); next attempt in ${minutes} minutes.`, 'error');
    return timing.refused;
  }
  if (session.condition === 'quarantined') return nextHeartbeatMs({}, session.state.config, options.intervalSeconds);
  const wait = backoff.next(fault instanceof RefusedError ? fault.retryAfterMs : 0);
  log(`No heartbeat: ${sentence}; next attempt in ${Math.ceil(wait / 1000)} s.`, 'warn');
  return wait;
}

/** Milliseconds to the next heartbeat: the override, else what the server asked for, else the configuration. */
function nextHeartbeatMs(answer: ReceivedAnswer, config: AgentConfig, override: number | undefined): number {
  const seconds = override ?? answer.nextHeartbeatSeconds ?? config.heartbeatIntervalSeconds;
  return Math.min(3_600, Math.max(override === undefined ? 1 : 0.01, Number(seconds) || 60)) * 1000;
}

/** Does what the answer to a heartbeat asks for. */
async function obey(answer: ReceivedAnswer, options: AgentOptions, parts: Parts, poll: Poll): Promise<void> {
  const { session, dispatcher, end } = parts;
  const { configUpdate, configVersion } = answer;
  const changes = {
    ...(configUpdate && { config: { ...session.state.config, ...configUpdate } }),
    ...(configVersion != null && configVersion !== session.state.configVersion && { configVersion }),
    ...parts.trust.heard(answer.manifestTrustKeys, answer.trustKeyList, session.state),
  };
  if (Object.keys(changes).length > 0) await session.change(changes);
  let commands = answer.commands ?? [];
  // A command that runs may be the one to uninstall.
  if (answer.uninstall && !dispatcher.busy && !commands.some(isUninstall)) {
    const more = await session.call<{ commands?: Command[] }>('GET', 'commands').catch((fault) => {
      // A server that no longer gives this agent commands has none for it; one that cannot be reached may.
      if (fault instanceof RefusedError && fault.status === 403) return { commands: [] };
      throw fault;
    });
    commands = [...commands, ...(more.commands ?? [])];
    // Without a command there is nothing to answer; removing itself is all that is asked.
    if (!commands.some(isUninstall)) {
      options.log('The server asks this agent to remove itself.');
      try {
        await options.remove?.(options.signal);
      } catch (fault) {
        parts.health.fails('removal', 'error');
        return options.log(`The agent could not be removed: ${sentenceOf(fault)}`, 'error');
      }
      return end('uninstalled');
    }
  }
  await dispatcher.accept(commands);
  if (answer.rotateToken) {
    await rotateTokens(session, options.log).then(
      () => parts.uplink.renew(),
      (fault) => options.log(`The tokens were not changed: ${sentenceOf(fault)}`, 'warn'),
    );
  }
  poll(commands.length >= FULL_BATCH);
}

/** An answered heartbeat confirms this version; the answer may offer the next one. Commands go first. */
async function takeOffers(answer: ReceivedAnswer, { speaker }: AgentOptions, parts: Parts): Promise<void> {
  const { updates, dispatcher, session } = parts;
  await updates?.heard();
  const { autoUpdateEnabled, config } = session.state;
  if (dispatcher.busy || !autoUpdateEnabled || !isOn(config, 'updates')) return;
  updates?.offered(speaker ? answer.watchdogUpgradeTo : answer.upgradeTo);
}

function sentenceOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault);
}

function isUninstall({ type }: Command): boolean {
  return type === 'uninstall_agent';
}

type Poll = (atOnce: boolean) => void;

/** Asks for commands while some run, and at once after a full batch; nothing when it does so already. */
function poller({ signal, timing }: AgentOptions, { session, dispatcher, uplink }: Parts): Poll {
  let polling = false;
  const work = async (atOnce: boolean): Promise<void> => {
    let again = atOnce;
    while ((again || dispatcher.busy) && session.condition === 'ok') {
      if (!again) await pause(timing.poll, signal);
      if (signal.aborted) return;
      again = false;
      // Over the socket they come by themselves.
      if (dispatcher.full || uplink.open) continue;
      const { commands = [] } = await session.call<{ commands?: Command[] }>('GET', 'commands');
      await dispatcher.accept(commands);
      again = commands.length >= FULL_BATCH && !dispatcher.full;
    }
  };
  return (atOnce) => {
    if (polling || !(atOnce || dispatcher.busy)) return;
    polling = true;
    // A poll that fails is made up for by the next heartbeat.
    work(atOnce)
      .catch(() => undefined)
      .finally(() => {
        polling = false;
      });
  };
}
