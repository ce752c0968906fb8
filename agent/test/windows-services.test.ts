/** Services of Windows, against what PowerShell and sc.exe once printed. */
import test from 'ava';
import { ToolError } from '../src/tools/contract.ts';
import { parseState, windowsServices } from '../src/tools/windows/services.ts';
import { PATIENT, recordedAsk, recording, scriptOf } from './recorded.ts';

const win = (name: string): string => recording(`windows/${name}`);
const PAGE = { page: 1, limit: 50 };
const AGENT = 4711;

/** Answers of sc.exe in turn, by its first argument. */
function services(sc: Record<string, (string | { code: number })[]> = {}, own: number[] = [AGENT]) {
  const { ask, calls } = recordedAsk((call) => {
    const script = scriptOf(call);
    if (script.includes('DependentServices')) return win('dependents.json');
    if (script) {
      const { name } = JSON.parse(call.input ?? '') as { name?: string };
      if (name === undefined) return win('services.json');
      if (name === 'QuartermasterAgent') return win('service-agent.json');
      return win(/absent/.test(name) ? 'nothing.json' : 'service-spooler.json');
    }
    return sc[call.args[0] ?? '']?.shift();
  });
  const orders = (): string[] => calls.filter(({ program }) => program === 'sc.exe').map(({ args }) => args.join(' '));
  return { tools: windowsServices(ask, own), calls, orders };
}
const RUNNING = win('sc-running.txt');
const STOPPED = win('sc-stopped.txt');

test('services of Windows come with state, start, account and what they need', async (t) => {
  const { tools } = services();
  const { items, total } = await tools.list(PAGE, PATIENT);
  t.is(total, 6);
  const starts = Object.fromEntries(items.map(({ name, startType, status }) => [name, `${startType} ${status}`]));
  t.deepEqual(starts, {
    DocSvc: 'manual starting',
    MapsBroker: 'auto_delayed stopped',
    QuartermasterAgent: 'auto running',
    RemoteRegistry: 'disabled stopped',
    Spooler: 'auto running',
    wuauserv: 'manual stopped',
  });
  t.like(await tools.get('spooler', PATIENT), {
    name: 'Spooler',
    displayName: 'Druckwarteschlange',
    dependencies: ['RPCSS', 'http'],
  });
  t.is((await tools.list({ ...PAGE, search: 'KARTEN' }, PATIENT)).items[0]?.name, 'MapsBroker');
  t.is((await tools.list({ ...PAGE, status: 'running' }, PATIENT)).total, 2);
  await t.throwsAsync(tools.get('absent', PATIENT), { code: 'NOT_FOUND' });
  await t.throwsAsync(tools.get("x' or '1'='1", PATIENT), { code: 'INVALID' });
});

test('the state in the output of sc.exe is a number, in any language and for any name', (t) => {
  const states = ['sc-running', 'sc-start-pending', 'sc-stop-pending', 'sc-stopped', 'sc-running-french'];
  t.deepEqual(
    states.map((name) => parseState(win(`${name}.txt`))),
    ['running', 'starting', 'stopping', 'stopped', 'running'],
  );
  t.is(parseState(win('sc-unknown-german.txt')), 'unknown');
});

test('a service of Windows is started, and its state awaited', async (t) => {
  const { tools, orders } = services({ start: [{ code: 0 }], query: [win('sc-start-pending.txt'), RUNNING] });
  t.deepEqual(await tools.change('spooler', 'start', PATIENT), { name: 'Spooler', status: 'running' });
  t.deepEqual(orders(), ['start Spooler', 'query Spooler', 'query Spooler']);
});

test('starting what runs and stopping what is stopped succeed with a note', async (t) => {
  const { tools } = services({ start: [{ code: 1056 }], stop: [{ code: 1062 }] });
  t.like(await tools.change('Spooler', 'start', PATIENT), { status: 'running', note: 'The service ran already' });
  t.like(await tools.change('Spooler', 'stop', PATIENT), {
    status: 'stopped',
    note: 'The service was stopped already',
  });
});

test('a restart stops dependent services first and starts them last', async (t) => {
  const ok = () => ({ code: 0 });
  const { tools, orders } = services({
    stop: [ok(), ok(), ok()],
    start: [ok(), ok(), ok()],
    query: [STOPPED, STOPPED, STOPPED, RUNNING, RUNNING, RUNNING],
  });
  const done = await tools.change('Spooler', 'restart', PATIENT);
  t.deepEqual(done, { name: 'Spooler', status: 'running', restarted: ['Fax', 'PrintNotify'] });
  const changes = orders().filter((order) => !order.startsWith('query'));
  t.deepEqual(changes, [
    'stop Fax',
    'stop PrintNotify',
    'stop Spooler',
    'start Spooler',
    'start PrintNotify',
    'start Fax',
  ]);
});

test('a restart that fails half way starts again what it had stopped', async (t) => {
  const { tools, orders } = services({
    stop: [{ code: 0 }, { code: 5 }],
    start: [{ code: 0 }],
    query: [STOPPED, RUNNING],
  });
  await t.throwsAsync(tools.change('Spooler', 'restart', PATIENT), { code: 'DENIED' });
  t.deepEqual(
    orders().filter((order) => !order.startsWith('query')),
    ['stop Fax', 'stop PrintNotify', 'start Fax'],
  );
});

test('what a restart stopped starts again though the time for it is over', async (t) => {
  const limit = new AbortController();
  const { ask, calls } = recordedAsk((call) => {
    const script = scriptOf(call);
    if (script) return win(script.includes('DependentServices') ? 'dependents.json' : 'service-spooler.json');
    const [verb, name] = call.args;
    if (verb === 'query') return calls.some(({ args }) => args[0] === 'start') ? RUNNING : STOPPED;
    if (verb === 'stop' && name === 'PrintNotify') {
      limit.abort();
      throw new ToolError('TIMEOUT', 'too slow');
    }
    return '';
  });
  const tools = windowsServices(
    async (program, args, options) => {
      options.signal.throwIfAborted();
      return ask(program, args, options);
    },
    [AGENT],
  );
  await t.throwsAsync(tools.change('Spooler', 'restart', limit.signal), { code: 'TIMEOUT' });
  const orders = calls.filter(({ program }) => program === 'sc.exe').map(({ args }) => args.join(' '));
  t.deepEqual(orders, ['stop Fax', 'query Fax', 'stop PrintNotify', 'start Fax', 'query Fax']);
});

test('what sc.exe refuses is told by the number of Windows', async (t) => {
  const codes: [number, string][] = [
    [5, 'DENIED'],
    [1060, 'NOT_FOUND'],
    [1058, 'CONFLICT'],
    [1051, 'CONFLICT'],
    [1061, 'CONFLICT'],
    [1068, 'CONFLICT'],
    [1053, 'TIMEOUT'],
    [123, 'INVALID'],
  ];
  for (const [code, expected] of codes) {
    const { tools } = services({ stop: [{ code }] });
    await t.throwsAsync(tools.change('Spooler', 'stop', PATIENT), { code: expected }, String(code));
  }
  const { tools } = services({ stop: [{ code: 1450 }] });
  await t.throwsAsync(tools.change('Spooler', 'stop', PATIENT), { message: /Windows error 1450/ });
});

test('the service of the agent is neither stopped nor restarted', async (t) => {
  const { tools, orders } = services();
  await t.throwsAsync(tools.change('QuartermasterAgent', 'stop', PATIENT), { code: 'PROTECTED' });
  await t.throwsAsync(tools.change('QuartermasterAgent', 'restart', PATIENT), { code: 'PROTECTED' });
  t.deepEqual(orders(), []);
});
