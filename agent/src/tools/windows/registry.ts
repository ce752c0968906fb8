/** The registry of Windows through .NET, which keeps types and takes the 64-bit or the 32-bit view. */

import type { RegistryPlace } from '#agent-protocol';
import type { Ask } from '../../process/ask.ts';
import { type Registry, ToolError } from '../contract.ts';
import { numberOf, powershell, type Row, rows } from './powershell.ts';
import { bytesOf, encode, toValue } from './registry-values.ts';

const ROOT = `
  $hive = [Microsoft.Win32.RegistryHive]$asked.hive
  $view = [Microsoft.Win32.RegistryView]('Registry' + $asked.view)
  $root = [Microsoft.Win32.RegistryKey]::OpenBaseKey($hive, $view)
  function Show($key, $name) {
    $kind = [string]$key.GetValueKind($name)
    $data = $key.GetValue($name, $null, 'DoNotExpandEnvironmentNames')
    $shown = @{ name = $name; kind = $kind }
    if ($data -is [byte[]]) { $shown.base64 = [Convert]::ToBase64String($data) }
    elseif ($kind -eq 'DWord') { $shown.number = [BitConverter]::ToUInt32([BitConverter]::GetBytes([int]$data), 0) }
    elseif ($kind -eq 'QWord') {
      $shown.text = [BitConverter]::ToUInt64([BitConverter]::GetBytes([long]$data), 0).ToString()
    }
    elseif ($kind -eq 'MultiString') { $shown.list = @($data) }
    elseif ($null -ne $data) { $shown.text = [string]$data }
    $shown
  }
`;
const OPEN = `${ROOT}
  $key = $root.OpenSubKey($asked.path)
  if (-not $key) { Refuse 'NOT_FOUND' }
`;
const OPEN_TO_WRITE = `${ROOT}
  $key = $root.OpenSubKey($asked.path, $true)
  if (-not $key) { Refuse 'NOT_FOUND' }
`;
const KEYS = `${OPEN}
  foreach ($name in $key.GetSubKeyNames()) {
    $shown = @{ name = $name }
    try {
      $sub = $key.OpenSubKey($name)
      $shown.subkeys = $sub.SubKeyCount
      $shown.entries = $sub.ValueCount
      $sub.Dispose()
    } catch { }
    $shown
  }
`;
const VALUES = `${OPEN}
  foreach ($name in $key.GetValueNames()) { Show $key $name }
`;
const VALUE = `${OPEN}
  if ($key.GetValueNames() -notcontains $asked.name) { Refuse 'NOT_FOUND' }
  Show $key $asked.name
`;
const SET = `${OPEN_TO_WRITE}
  $before = $null
  if ($key.GetValueNames() -contains $asked.name) { $before = Show $key $asked.name }
  $kind = [Microsoft.Win32.RegistryValueKind]$asked.kind
  if ($asked.kind -eq 'DWord') { $data = [BitConverter]::ToInt32([BitConverter]::GetBytes([uint32]$asked.data), 0) }
  elseif ($asked.kind -eq 'QWord') {
    $data = [BitConverter]::ToInt64([BitConverter]::GetBytes([uint64]$asked.data), 0)
  }
  elseif ($asked.kind -eq 'Binary') { [byte[]]$data = [Convert]::FromBase64String($asked.data) }
  elseif ($asked.kind -eq 'MultiString') { [string[]]$data = @($asked.data) }
  else { $data = [string]$asked.data }
  $key.SetValue($asked.name, $data, $kind)
  @{ before = $before }
`;
const DELETE = `${OPEN_TO_WRITE}
  if ($key.GetValueNames() -notcontains $asked.name) { Refuse 'NOT_FOUND' }
  $key.DeleteValue($asked.name)
`;
const CREATE_KEY = `${ROOT}
  $old = $root.OpenSubKey($asked.path)
  if (-not $old) { $root.CreateSubKey($asked.path).Dispose() }
  @{ created = (-not $old) }
`;
const DELETE_KEY = `${OPEN}
  $full = ($key.SubKeyCount -gt 0) -or ($key.ValueCount -gt 0)
  $key.Dispose()
  if ($full -and -not $asked.recursive) { Refuse 'CONFLICT' }
  $root.DeleteSubKeyTree($asked.path)
`;

const HIVES = new Map(
  Object.entries({
    HKEY_LOCAL_MACHINE: 'LocalMachine',
    HKLM: 'LocalMachine',
    HKEY_CURRENT_USER: 'CurrentUser',
    HKCU: 'CurrentUser',
    HKEY_CLASSES_ROOT: 'ClassesRoot',
    HKCR: 'ClassesRoot',
    HKEY_USERS: 'Users',
    HKU: 'Users',
    HKEY_CURRENT_CONFIG: 'CurrentConfig',
    HKCC: 'CurrentConfig',
  }),
);
const MOST_PATH = 1_024;
const MOST_NAME = 256;
/** Their first-level keys are the machine, its configuration, and its users. */
const GUARDED = ['LocalMachine', 'CurrentConfig', 'Users'];

interface Place {
  hive: string;
  path: string;
  view: '64' | '32';
}

export function windowsRegistry(ask: Ask): Registry {
  const run = (script: string, asked: Place & Row, signal: AbortSignal): Promise<unknown> =>
    powershell(ask, script, { about: `The registry key ${asked.path || 'at the root'}`, asked, signal });
  return {
    async keys(place, signal) {
      const at = placeOf(place);
      return rows(await run(KEYS, { ...at }, signal)).map((row) => ({
        name: String(row.name),
        path: at.path === '' ? String(row.name) : `${at.path}\\${String(row.name)}`,
        subKeyCount: numberOf(row.subkeys),
        valueCount: numberOf(row.entries),
        // .NET does not tell when a key was written.
        lastModified: null,
      }));
    },
    values: async (place, signal) =>
      rows(await run(VALUES, { ...placeOf(place) }, signal)).map((row) => toValue(row, 'list')),
    async value(place, name, signal) {
      const [row] = rows(await run(VALUE, { ...placeOf(place), name: nameOf(name) }, signal));
      if (!row) throw new ToolError('NOT_FOUND', 'There is no such value');
      return toValue(row, 'single');
    },
    async set(place, { name, type, data }, signal) {
      const asked = { ...placeOf(place), name: nameOf(name), ...encode(type, data) };
      if (asked.path === '') throw new ToolError('PROTECTED', 'Values at the root of a hive are not written');
      const [answer] = rows(await run(SET, asked, signal));
      const [before] = rows(answer?.before);
      return { before: before ? { type: toValue(before, 'single').type, bytes: bytesOf(before) } : null };
    },
    async delete(place, name, signal) {
      await run(DELETE, { ...placeOf(place), name: nameOf(name) }, signal);
    },
    async createKey(place, signal) {
      const at = placeOf(place);
      if (isGuarded(at)) throw new ToolError('PROTECTED', 'Keys at the root of this hive are not created');
      const [answer] = rows(await run(CREATE_KEY, { ...at }, signal));
      return { created: answer?.created === true };
    },
    async deleteKey(place, recursive, signal) {
      const at = placeOf(place);
      if (isGuarded(at)) throw new ToolError('PROTECTED', 'This key of the registry is not deleted from afar');
      await run(DELETE_KEY, { ...at, recursive }, signal);
    },
  };
}

/** Throws INVALID for what no registry has. A key's name may hold a slash, so only the backslash divides. */
function placeOf({ hive, path, view }: RegistryPlace): Place {
  const found = HIVES.get(hive.toUpperCase());
  if (!found) throw new ToolError('INVALID', `There is no hive ${hive}`);
  const parts = path.split('\\').filter((part) => part !== '');
  if (path.length > MOST_PATH || path.includes('\0') || parts.includes('..')) {
    throw new ToolError('INVALID', 'This is no path of a registry key');
  }
  return { hive: found, path: parts.join('\\'), view };
}

function nameOf(name: string): string {
  if (name.length > MOST_NAME || name.includes('\0')) throw new ToolError('INVALID', 'This is no name of a value');
  return name;
}

/** Roots, first-level keys of the machine, and the root of its 32-bit half under its other name. */
function isGuarded({ hive, path }: Place): boolean {
  if (path === '') return true;
  if (!GUARDED.includes(hive)) return false;
  return !path.includes('\\') || /^software\\wow6432node$/i.test(path);
}
