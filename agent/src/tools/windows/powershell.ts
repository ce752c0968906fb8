/** Runs constant PowerShell scripts: what differs goes in as JSON, what comes out is JSON, errors are read by number. */

import type { ToolCode } from '#agent-protocol';
import type { Ask } from '../../process/ask.ts';
import { ToolError } from '../contract.ts';

export type Row = Record<string, unknown>;

/**
 * Before every script. `$asked` is what the caller gave; `Refuse` ends with a ToolCode; `Stamp` writes a date in UTC.
 * No script holds a double quote or the caller's text, so nothing can be misread on its way to PowerShell. Standard input is
 * `$input`: with -Command PowerShell itself reads the stream, and a script that reads it too may find it empty.
 */
const OPENING = `
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
try { [Console]::OutputEncoding = New-Object System.Text.UTF8Encoding $false } catch { }
Remove-TypeData -TypeName System.Array -ErrorAction SilentlyContinue
function Refuse($code) { throw ('refused:' + $code) }
function Stamp($date) { if ($date) { $date.ToUniversalTime().ToString('o') } }
$asked = (@($input) -join [char]10) | ConvertFrom-Json
`;
/** What Windows says of a fault in words depends on its language; type and number do not. */
const CLOSING = `
catch {
  $fault = $_.Exception.GetBaseException()
  $about = @{ type = $fault.GetType().FullName; code = ('{0:X8}' -f $fault.HResult); message = $fault.Message }
  [Console]::Out.Write((ConvertTo-Json -InputObject @{ fault = $about } -Compress))
}
`;

const BY_NUMBER: Record<string, ToolCode> = {
  '80070002': 'NOT_FOUND',
  '80070003': 'NOT_FOUND',
  '80070005': 'DENIED',
  '80070020': 'FILE_LOCKED',
  '80070057': 'INVALID',
  '8007007B': 'INVALID',
  // The task scheduler: runs already, disabled.
  '8004131F': 'CONFLICT',
  '80041326': 'CONFLICT',
};
const BY_TYPE: Record<string, ToolCode> = {
  'System.UnauthorizedAccessException': 'DENIED',
  'System.Security.SecurityException': 'DENIED',
  'System.Management.Automation.ItemNotFoundException': 'NOT_FOUND',
  'System.IO.DirectoryNotFoundException': 'NOT_FOUND',
  'System.Diagnostics.Eventing.Reader.EventLogNotFoundException': 'NOT_FOUND',
  'Microsoft.PowerShell.Commands.ServiceCommandException': 'NOT_FOUND',
};
const IN_WORDS: Record<ToolCode, string> = {
  NOT_FOUND: 'is not on this device',
  DENIED: 'is not open to the account of the agent',
  PROTECTED: 'is protected',
  CONFLICT: 'is not in a state for this',
  INVALID: 'is not a name that Windows takes',
  UNSUPPORTED_OS: 'is not on Windows',
  UNSUPPORTED: 'is not supported here',
  FILE_LOCKED: 'is in use',
  TOO_LARGE: 'is too large',
  TIMEOUT: 'did not answer in time',
};

/**
 * The value of a script; `about` names in messages what was asked for. Throws ToolError where the fault has a code, and
 * a plain Error with the words of Windows where not.
 */
export async function powershell(
  ask: Ask,
  script: string,
  { about, asked = {}, signal }: { about: string; asked?: object; signal: AbortSignal },
): Promise<unknown> {
  const whole = `${OPENING}try { $value = & {${script}}
[Console]::Out.Write((ConvertTo-Json -InputObject @{ value = $value } -Compress -Depth 8)) }${CLOSING}`;
  const args = ['-NoProfile', '-NonInteractive', '-Command', whole];
  const { stdout, code } = await ask('powershell.exe', args, { signal, input: ascii(JSON.stringify(asked)) });
  const answer = parse(stdout);
  if (!answer) throw new Error(`PowerShell gave no answer about ${about} (exit code ${code}).`);
  if (answer.fault) throw faultOf(answer.fault as Row, about);
  return answer.value;
}

/** The objects a script yielded: none, one or many. */
export function rows(value: unknown): Row[] {
  const list = Array.isArray(value) ? value : [value];
  return list.filter((item): item is Row => typeof item === 'object' && item !== null);
}

/** What PowerShell reads is in a code page of the machine's; in ASCII that makes no difference. */
function ascii(json: string): string {
  return json.replaceAll(/[\u007f-\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** NUL is left out of texts: no database column takes it. */
function parse(stdout: string): Row | undefined {
  try {
    const text = stdout.replace(/^\ufeff/, '');
    return JSON.parse(text, (_key, value) => (typeof value === 'string' ? value.replaceAll('\0', '') : value)) as Row;
  } catch {
    return undefined;
  }
}

function faultOf({ type, code, message }: Row, about: string): Error {
  const words = String(message);
  const refused = /^refused:(\w+)$/.exec(words)?.[1];
  const found = (refused as ToolCode | undefined) ?? BY_TYPE[String(type)] ?? BY_NUMBER[String(code)];
  return found ? new ToolError(found, `${about} ${IN_WORDS[found]}`) : new Error(`${about}: ${words}`);
}

/** A text, or null for what is none or empty. */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** A finite number, or null. */
export function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** ISO 8601 with milliseconds, or null for what is no date, or one before 2000: Windows' word for "never". */
export function instantOf(value: unknown): string | null {
  const date = new Date(typeof value === 'string' ? value : Number.NaN);
  return Number.isNaN(date.getTime()) || date.getUTCFullYear() < 2000 ? null : date.toISOString();
}
