/**
 * Plugin code in QuickJS, compiled to WebAssembly: JavaScript without any access to the outside but the functions given here,
 * in a memory of its own that cannot grow beyond its limit.
 */
import ngVariant from '@jitl/quickjs-ng-wasmfile-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSSyncVariant,
} from 'quickjs-emscripten-core';
import { Budget } from './budget.ts';
import { digest, format, hmac, random, url } from './computing.ts';
import { GUEST, Sources } from './sources.ts';

// Its types describe the CommonJS file, one step further out than what an import gives.
const variant = ngVariant as unknown as QuickJSSyncVariant;
/** Of the language, yet not among the types of Node. */
const { Memory } = (globalThis as unknown as { WebAssembly: { Memory: new (size: object) => object } }).WebAssembly;
/** Pages of WebAssembly in a megabyte, and those that the interpreter begins with. */
const PAGES = 16;
const FIRST_PAGES = 256;
/** Deep enough for real programs; the stack of the process around it must be deeper (`--stack-size`). */
const STACK_BYTES = 160 * 1_024;
const MOST_TIMERS = 10_000;

/** `crashed`: something threw what nothing was there to catch. */
export type Ending = 'stopped' | 'memory' | 'cpu' | 'crashed';

export interface InterpreterParts {
  /** Of the package. */
  folder: string;
  memoryMb: number;
  cpuMsPerCall: number;
  /** A line for the host; false where it is too long. */
  send(line: string): boolean;
  /** The plugin must not run any more. */
  exit(ending: Ending, reason?: string): void;
}
export interface Interpreter {
  /** A line of the host. */
  hear(line: string): void;
}

const processorMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

export async function openInterpreter({
  folder,
  memoryMb,
  cpuMsPerCall,
  send,
  exit,
}: InterpreterParts): Promise<Interpreter> {
  const wasmMemory = new Memory({ initial: FIRST_PAGES, maximum: Math.max(FIRST_PAGES, memoryMb * PAGES) });
  const quickjs = await newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmMemory: wasmMemory as never }));
  const runtime = quickjs.newRuntime({ maxStackSizeBytes: STACK_BYTES });
  const budget = new Budget(cpuMsPerCall, processorMs);
  runtime.setInterruptHandler(() => budget.isSpent);
  const sources = new Sources(folder);
  runtime.setModuleLoader(
    (name) => attempt(() => sources.module(name)),
    (from, specifier) => sources.nameOrFault(from, specifier),
  );
  const vm = runtime.newContext();
  const run = (work: () => void): void => {
    budget.spend(() => {
      work();
      const outcome = runtime.executePendingJobs();
      outcome.dispose();
    });
    if (budget.isSpent) exit('cpu');
  };
  const call = (of: QuickJSHandle, argument: QuickJSHandle): void => {
    const outcome = vm.callFunction(of, vm.undefined, argument);
    argument.dispose();
    if (outcome.error && !budget.isSpent) exit('crashed', inWords(vm.dump(outcome.error)));
    outcome.dispose();
  };
  const timers = timersThat((id) => run(() => call(fire, vm.newNumber(id))));
  give(vm, {
    ...timers,
    send(line: string) {
      budget.said(line);
      return send(line);
    },
    exit: (reason: string) => exit(reason === 'memory' ? 'memory' : 'stopped'),
    now: () => performance.now(),
    source(from: string, specifier: string) {
      const name = sources.nameOf(from, specifier);
      return [name, sources.read(name)];
    },
    ...{ random, digest, hmac, url, format },
  });
  const { hear, fire } = load(vm);
  return {
    hear(line) {
      budget.hear(line);
      run(() => call(hear, vm.newString(line)));
    },
  };
}

function timersThat(fire: (id: number) => void) {
  const timers = new Map<number, NodeJS.Timeout>();
  return {
    setTimer(id: number, ms: number): void {
      if (timers.size >= MOST_TIMERS) throw new RangeError(`At most ${MOST_TIMERS} timers at once`);
      const due = () => {
        timers.delete(id);
        fire(id);
      };
      timers.set(id, setTimeout(due, ms));
    },
    clearTimer(id: number): void {
      clearTimeout(timers.get(id));
      timers.delete(id);
    },
  };
}

/** `TypeError: what happened`, of an error as the interpreter dumps it. */
function inWords(error: { name?: unknown; message?: unknown } | null): string {
  if (typeof error !== 'object' || error === null) return `Error: ${String(error)}`;
  return `${String(error.name ?? 'Error')}: ${String(error.message ?? '')}`;
}

const attempt = <T>(run: () => T): T | { error: Error } => {
  try {
    return run();
  } catch (error) {
    return { error: error as Error };
  }
};

type Plain = string | number | boolean | undefined | Uint8Array | Plain[];

/** Puts the functions where the first module takes them. */
function give(vm: QuickJSContext, functions: Record<string, (...args: never[]) => unknown>): void {
  const holder = vm.newObject();
  for (const [name, run] of Object.entries(functions)) {
    const made = vm.newFunction(name, (...args) =>
      inside(vm, run(...(args.map((one) => outside(vm, one)) as never[])) as Plain),
    );
    vm.setProp(holder, name, made);
    made.dispose();
  }
  vm.setProp(vm.global, 'hostFunctions', holder);
  holder.dispose();
}

/** Only texts, numbers, bytes and undefined: an object could have getters that run. */
function outside(vm: QuickJSContext, handle: QuickJSHandle): Plain {
  const type = vm.typeof(handle);
  if (type === 'string') return vm.getString(handle);
  if (type === 'number') return vm.getNumber(handle);
  if (type === 'undefined') return undefined;
  const bytes = vm.getArrayBuffer(handle);
  try {
    return Uint8Array.from(bytes.value);
  } finally {
    bytes.dispose();
  }
}

function inside(vm: QuickJSContext, value: Plain): QuickJSHandle {
  if (typeof value === 'string') return vm.newString(value);
  if (typeof value === 'number') return vm.newNumber(value);
  if (typeof value === 'boolean') return value ? vm.true : vm.false;
  if (value instanceof Uint8Array) {
    const { buffer, byteOffset, byteLength } = value;
    return vm.newArrayBuffer(buffer.slice(byteOffset, byteOffset + byteLength));
  }
  if (!Array.isArray(value)) return vm.undefined;
  const list = vm.newArray();
  for (const [n, one] of value.entries()) {
    const held = inside(vm, one);
    vm.setProp(list, n, held);
    held.dispose();
  }
  return list;
}

/** Runs the first module. */
function load(vm: QuickJSContext): { hear: QuickJSHandle; fire: QuickJSHandle } {
  const source = `export { hear, fire } from './${GUEST.slice('sdk/runtime/guest/'.length)}';`;
  const exported = vm.unwrapResult(vm.evalCode(source, 'sdk/runtime/guest/first.js', { type: 'module' }));
  return { hear: vm.getProp(exported, 'hear'), fire: vm.getProp(exported, 'fire') };
}
