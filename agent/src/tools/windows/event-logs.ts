/** The event logs of Windows. */

import type { EventItem } from '#agent-protocol';
import type { Ask } from '../../process/ask.ts';
import { type EventLogs, ToolError } from '../contract.ts';
import { cut, MAX_MESSAGE_CHARACTERS } from '../limits.ts';
import { instantOf, numberOf, type PowershellObject, powershell, rows, textOf } from './powershell.ts';
import { levelOf, xpathOf } from './xpath.ts';

/** There are a thousand logs; the empty ones, but for the classic, are left out. */
const LIST = `
  Get-WinEvent -ListLog * -ErrorAction SilentlyContinue | Where-Object { $_.RecordCount -or $_.IsClassicLog } |
    ForEach-Object { @{
      name = $_.LogName; records = $_.RecordCount; most = $_.MaximumSizeInBytes; last = (Stamp $_.LastWriteTime)
    } }
`;
/** Newest first. Events that the page leaves out are passed over unread. */
const QUERY = `
  $space = 'System.Diagnostics.Eventing.Reader.'
  $query = New-Object ($space + 'EventLogQuery') $asked.log, 'LogName', $asked.xpath
  $query.ReverseDirection = $true
  $reader = New-Object ($space + 'EventLogReader') $query
  for ($n = 0; $n -lt $asked.skip; $n++) {
    $passed = $reader.ReadEvent()
    if (-not $passed) { break }
    $passed.Dispose()
  }
  for ($n = 0; $n -lt $asked.limit; $n++) {
    $entry = $reader.ReadEvent()
    if (-not $entry) { break }
    $message = $null
    try { $message = $entry.FormatDescription() } catch { }
    if (-not $message) { $message = ($entry.Properties | ForEach-Object { [string]$_.Value }) -join ' ' }
    $task = $null
    try { $task = $entry.TaskDisplayName } catch { }
    if (-not $task -and $entry.Task) { $task = [string]$entry.Task }
    $user = $null
    if ($entry.UserId) {
      try { $user = $entry.UserId.Translate([System.Security.Principal.NTAccount]).Value }
      catch { $user = $entry.UserId.Value }
    }
    $details = @()
    if ($asked.details) {
      $xml = [xml]$entry.ToXml()
      $details = @($xml.SelectNodes('//*[local-name()=''Data'']') |
        ForEach-Object { @{ name = $_.GetAttribute('Name'); value = $_.InnerText } })
    }
    @{
      record = $entry.RecordId; time = (Stamp $entry.TimeCreated); level = $entry.Level; source = $entry.ProviderName
      task = $task; id = $entry.Id; message = $message; computer = $entry.MachineName; user = $user
      activity = [string]$entry.ActivityId; details = $details
    }
  }
`;
const COUNT = `
  $session = [System.Diagnostics.Eventing.Reader.EventLogSession]::GlobalSession
  @{ total = $session.GetLogInformation($asked.log, 'LogName').RecordCount }
`;

/** The events of a log that an XPath filter takes, newest first; `details` adds the named data of each. */
export async function readEvents(
  ask: Ask,
  asked: { log: string; xpath: string; skip: number; limit: number; details: boolean },
  signal: AbortSignal,
): Promise<PowershellObject[]> {
  return rows(await powershell(ask, QUERY, { about: `The event log ${asked.log}`, asked, signal }));
}

export function windowsEventLogs(ask: Ask): EventLogs {
  return {
    async list(signal) {
      const logs = rows(await powershell(ask, LIST, { about: 'The list of event logs', signal }));
      return logs.map((row) => ({
        name: String(row.name),
        displayName: String(row.name),
        recordCount: numberOf(row.records),
        maxSize: numberOf(row.most),
        // Windows keeps logs by size.
        retentionDays: null,
        lastWriteTime: instantOf(row.last),
      }));
    },
    async query(log, { page, limit, ...filter }, signal) {
      const xpath = xpathOf(filter);
      const asked = { log, xpath, skip: (page - 1) * limit, limit, details: false };
      const items = (await readEvents(ask, asked, signal)).map(toEvent);
      if (xpath !== '*') return { items, total: null };
      const about = `The event log ${log}`;
      const [count] = rows(await powershell(ask, COUNT, { about, asked: { log }, signal }));
      return { items, total: numberOf(count?.total) };
    },
    async event(log, recordId, signal) {
      if (!/^\d{1,20}$/.test(recordId)) throw new ToolError('INVALID', 'The id of an event of Windows is a number');
      const xpath = `*[System[(EventRecordID=${recordId})]]`;
      const [row] = await readEvents(ask, { log, xpath, skip: 0, limit: 1, details: true }, signal);
      if (!row) throw new ToolError('NOT_FOUND', `There is no event ${recordId} in ${log}`);
      return { ...toEvent(row), details: detailsOf(row) };
    },
  };
}

/** The data of an event by name; those without one are numbered. */
export function detailsOf(row: PowershellObject): Record<string, string> {
  const named = rows(row.details).map(({ name, value }, n): [string, string] => [
    textOf(name) ?? String(n + 1),
    cut(typeof value === 'string' ? value : '', MAX_MESSAGE_CHARACTERS),
  ]);
  return Object.fromEntries(named);
}

function toEvent(row: PowershellObject): EventItem {
  return {
    recordId: String(row.record),
    timestamp: instantOf(row.time) ?? new Date(0).toISOString(),
    level: levelOf(row.level),
    source: textOf(row.source) ?? 'Windows',
    category: textOf(row.task)?.trim() || null,
    eventId: numberOf(row.id) === null ? null : String(row.id),
    message: cut(textOf(row.message)?.replaceAll('\r\n', '\n').trim() ?? '', MAX_MESSAGE_CHARACTERS),
    computer: textOf(row.computer),
    user: textOf(row.user),
  };
}
