/** The registry of Windows, against what PowerShell once printed. */
import test from 'ava';
import { windowsRegistry } from '../src/tools/windows/registry.ts';
import { encode } from '../src/tools/windows/registry-values.ts';
import { PATIENT, recordedAsk, recording } from './recorded.ts';

function registry(answer: string) {
  const { ask, calls } = recordedAsk(() => recording(`windows/${answer}.json`));
  return {
    tools: windowsRegistry(ask),
    calls,
    asked: (): Record<string, unknown> => JSON.parse(calls.at(-1)?.input ?? '{}'),
  };
}
const SOFTWARE = { hive: 'HKLM', path: '\\SOFTWARE\\', view: '32' } as const;

test('keys come with their path and counts, and those that cannot be opened without', async (t) => {
  const { tools, asked } = registry('registry-keys');
  t.deepEqual(await tools.keys(SOFTWARE, PATIENT), [
    { name: 'Microsoft', path: 'SOFTWARE\\Microsoft', subKeyCount: 214, valueCount: 0, lastModified: null },
    { name: 'Classes', path: 'SOFTWARE\\Classes', subKeyCount: null, valueCount: null, lastModified: null },
    { name: 'a/b', path: 'SOFTWARE\\a/b', subKeyCount: 0, valueCount: 2, lastModified: null },
  ]);
  t.deepEqual(asked(), { hive: 'LocalMachine', path: 'SOFTWARE', view: '32' });
});

test('values keep their types: 64 bits as a text, bytes as base64, lists as lists', async (t) => {
  const values = await registry('registry-values').tools.values(SOFTWARE, PATIENT);
  t.deepEqual(values.map(({ name, type, data }) => [name, type, data]).slice(0, 9), [
    ['', 'REG_SZ', 'the default'],
    ['Path', 'REG_EXPAND_SZ', '%SystemRoot%\\system32;C:\\Bäckerei'],
    ['List', 'REG_MULTI_SZ', ['one']],
    ['Empty', 'REG_MULTI_SZ', []],
    ['Count', 'REG_DWORD', 4294967295],
    ['Ticks', 'REG_QWORD', '18446744073709551615'],
    ['Blob', 'REG_BINARY', 'AP8Q'],
    ['Odd', 'REG_NONE', ''],
    ['Link', 'REG_UNKNOWN', null],
  ]);
  const long = values.at(-1);
  t.deepEqual([String(long?.data).length, long?.truncated], [4_096, true]);
});

test('only data that fit the type are written', (t) => {
  t.deepEqual(encode('REG_DWORD', 4294967295), { kind: 'DWord', data: 4294967295 });
  t.deepEqual(encode('REG_QWORD', '18446744073709551615'), { kind: 'QWord', data: '18446744073709551615' });
  t.deepEqual(encode('REG_BINARY', [0, 255, 16]), { kind: 'Binary', data: 'AP8Q' });
  t.deepEqual(encode('REG_BINARY', 'AP8Q'), { kind: 'Binary', data: 'AP8Q' });
  t.deepEqual(encode('REG_MULTI_SZ', ['a', 'b']), { kind: 'MultiString', data: ['a', 'b'] });
  const wrong: [string, unknown][] = [
    ['REG_DWORD', 4294967296],
    ['REG_DWORD', -1],
    ['REG_DWORD', '1'],
    ['REG_QWORD', 1],
    ['REG_QWORD', '18446744073709551616'],
    ['REG_BINARY', [256]],
    ['REG_BINARY', 'not base64!'],
    ['REG_SZ', 'a\0b'],
    ['REG_MULTI_SZ', ['a', '']],
    ['REG_LINK', 'x'],
    ['constructor', 'x'],
  ];
  for (const [type, data] of wrong) t.throws(() => encode(type, data), undefined, `${type} ${String(data)}`);
});

test('writing a value says what stood there before', async (t) => {
  const { tools, asked } = registry('registry-set');
  const value = { name: 'Count', type: 'REG_DWORD', data: 8 };
  t.deepEqual(await tools.set(SOFTWARE, value, PATIENT), { before: { type: 'REG_DWORD', bytes: 4 } });
  t.deepEqual(asked(), { hive: 'LocalMachine', path: 'SOFTWARE', view: '32', name: 'Count', kind: 'DWord', data: 8 });
  t.deepEqual(await registry('registry-set-new').tools.set(SOFTWARE, value, PATIENT), { before: null });
});

test('roots of hives and the first keys of the machine are neither made nor deleted', async (t) => {
  const { tools, calls } = registry('registry-created');
  const guarded = [
    ['HKEY_LOCAL_MACHINE', ''],
    ['HKEY_LOCAL_MACHINE', '\\'],
    ['hklm', 'SYSTEM'],
    ['HKLM', '\\software\\'],
    ['HKLM', 'SAM'],
    ['HKLM', 'Software\\Wow6432Node'],
    ['HKU', 'S-1-5-18'],
    ['HKCU', ''],
  ];
  for (const [hive = '', path = ''] of guarded) {
    const place = { hive, path, view: '64' } as const;
    await t.throwsAsync(tools.deleteKey(place, true, PATIENT), { code: 'PROTECTED' }, `${hive}\\${path}`);
    await t.throwsAsync(tools.createKey(place, PATIENT), { code: 'PROTECTED' }, `${hive}\\${path}`);
  }
  t.is(calls.length, 0);
  t.deepEqual(await tools.createKey({ hive: 'HKCR', path: '.abc', view: '64' }, PATIENT), { created: true });
});

test('what the registry refuses becomes a code, in any language of Windows', async (t) => {
  const place = { hive: 'HKLM', path: 'SOFTWARE\\A\\B', view: '64' } as const;
  const refused = (answer: string) => registry(answer).tools.deleteKey(place, false, PATIENT);
  await t.throwsAsync(refused('fault-conflict'), { code: 'CONFLICT' });
  await t.throwsAsync(refused('fault-refused'), { code: 'NOT_FOUND' });
  await t.throwsAsync(refused('fault-denied-german'), { code: 'DENIED' });
  await t.throwsAsync(refused('fault-other'), { message: /RPC-Server/ });
  await t.throwsAsync(registry('fault-refused').tools.value(place, 'x', PATIENT), { code: 'NOT_FOUND' });
  await t.throwsAsync(registry('fault-refused').tools.delete(place, 'x', PATIENT), { code: 'NOT_FOUND' });
  const { ask } = recordedAsk(() => ({ code: 1, stdout: 'Das ist kein JSON' }));
  await t.throwsAsync(windowsRegistry(ask).keys(place, PATIENT), { message: /no answer.*exit code 1/ });
});

test('places that no registry has are refused before Windows is asked', async (t) => {
  const { tools, calls } = registry('registry-keys');
  const wrong = [
    { hive: 'HKXX', path: 'a' },
    { hive: 'HKLM', path: 'SOFTWARE\\..\\SYSTEM' },
    { hive: 'HKLM', path: `SOFTWARE\\${'x'.repeat(1_100)}` },
    { hive: 'HKLM', path: 'a\0b' },
    { hive: 'constructor', path: 'a' },
  ];
  for (const place of wrong) await t.throwsAsync(tools.keys({ ...place, view: '64' }, PATIENT), { code: 'INVALID' });
  await t.throwsAsync(tools.value(SOFTWARE, 'n'.repeat(300), PATIENT), { code: 'INVALID' });
  t.is(calls.length, 0);
});
