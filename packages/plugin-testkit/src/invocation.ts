/** One invocation of a handler, with the deadlines and limits of the server. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import {
  createPluginContext,
  type HandlerKind,
  HostError,
  limits as LIMITS,
  type OrgInfo,
  type Plugin,
  runHandler,
  toWireError,
} from '@quartermaster/plugin-sdk/host';
import type { FakeClock } from './clock/fake-clock.ts';
import { asPlugin } from './clock/plugin-globals.ts';
import { across, TooLarge } from './wire.ts';

export interface Invocation {
  kind: HandlerKind;
  handler: string;
  /** What the log says it was: `device.online`, `action open`. */
  hook: string;
  args: readonly unknown[];
  timeoutMs: number;
  /** Of the event that caused it. */
  depth: number;
}
export type Outcome =
  | { ok: true; result: unknown }
  | { ok: false; code: string; message: string; afterMs: number | null };

export interface Surroundings {
  plugin: Plugin;
  clock: FakeClock;
  org: OrgInfo;
  config: Record<string, unknown>;
  /** Real milliseconds that work outside of JavaScript, such as compression, has before a deadline comes. */
  patienceMs: number;
  call(method: string, params: unknown, invocation: Invocation & { id: string }): Promise<unknown>;
  note(message: string, invocation: Invocation & { id: string }): void;
}
const failure = (code: string, message: string, afterMs: number | null = null): Outcome => ({
  ok: false,
  code,
  message,
  afterMs,
});
/** Real turns of the event loop without anything happening, after which only time can go on. */
const QUIET_TURNS = 8;

/** Never rejects for what a plugin does. */
export async function invoke(around: Surroundings, invocation: Invocation): Promise<Outcome> {
  const { clock, config, org } = around;
  const one = { ...invocation, id: randomUUID() };
  let args: unknown[];
  try {
    args = across([...one.args]);
  } catch (error) {
    return failure('PERMANENT', `The input does not get across: ${(error as Error).message}`);
  }
  const ending = new AbortController();
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const state: State = { over: false, hasEnded: false, ended, open: 0 };
  const ctx = createPluginContext({
    ...{ config: across(config), org: across(org), invocationId: one.id, signal: ending.signal },
    call: (method, params) => called(around, one, state, method, params),
  });
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const overdue = () => {
    state.over = true;
    ending.abort();
    resolve(failure('TIMEOUT', `It did not answer within ${one.timeoutMs} ms`));
  };
  const late = clock.set(one.timeoutMs, overdue, true);
  const settle = (outcome: Outcome) => {
    state.hasEnded = true;
    if (state.over) around.note('A result came after its deadline and was discarded', one);
    resolve(outcome);
    end();
  };
  void asPlugin({ clock, ctx }, async () => runHandler(around.plugin, { ...one, args }, ctx)).then(
    (result) => settle(resultOf(result)),
    (error: unknown) => settle(failureOf(error)),
  );
  await letRun(around, promise);
  clock.clear(late);
  if (!state.hasEnded) await waitForEnd(around, one, state);
  state.over = true;
  return promise;
}

function failureOf(error: unknown): Outcome {
  const { code, message, afterMs = null } = toWireError(error);
  return failure(code, message, afterMs);
}

function resultOf(result: unknown): Outcome {
  try {
    return { ok: true, result: across(result) };
  } catch (error) {
    if (error instanceof TooLarge) return failure('TOO_LARGE', 'The result is larger than 1 MB');
    return failure('CRASHED', `The result does not get across: ${(error as Error).message}`);
  }
}

interface State {
  /** Ends the invocation: later calls under its token are denied. */
  over: boolean;
  hasEnded: boolean;
  ended: Promise<void>;
  /** Calls that stand open. */
  open: number;
}

async function called(
  around: Surroundings,
  one: Invocation & { id: string },
  state: State,
  method: string,
  params: unknown,
): Promise<unknown> {
  if (state.open >= LIMITS.MAX_OPEN_CALLS) throw new HostError('RATE_LIMITED', 'Too many calls stand open');
  if (state.over) throw new HostError('INVALID_TOKEN', 'The invocation has ended, or never was');
  let given: unknown;
  try {
    given = across(params);
  } catch (error) {
    if (error instanceof TooLarge) throw new HostError('TOO_LARGE', 'A call is larger than 1 MB');
    throw error;
  }
  state.open += 1;
  try {
    return across(await around.call(method, given, one));
  } catch (error) {
    if (error instanceof TooLarge) throw new HostError('TOO_LARGE', 'The answer is larger than 1 MB');
    throw error;
  } finally {
    state.open -= 1;
  }
}

/** Moves the clock whenever nothing else can go on, until that has come. */
async function letRun({ clock, patienceMs }: Surroundings, coming: Promise<unknown>): Promise<void> {
  let come = false;
  void coming.then(() => {
    come = true;
  });
  while (!come) {
    for (let turns = 0; turns < QUIET_TURNS && !come; turns += 1) await turn();
    // What is set to come later than the deadline does not matter.
    const end = performance.now() + patienceMs;
    while (!come && clock.next?.patient && performance.now() < end) await pause(2);
    if (!come) clock.step();
  }
}

/** Its process would be ended if it went on for long. */
async function waitForEnd(around: Surroundings, one: Invocation & { id: string }, state: State): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const killed = around.clock.set(LIMITS.GRACE_MS, resolve);
  await letRun(around, Promise.race([promise, state.ended]));
  around.clock.clear(killed);
  if (!state.hasEnded) around.note(`Its process was ended: ${one.hook} did not end when its time was over`, one);
}
