/** Updates that wait on Windows, from the Windows Update Agent (COM). */
import { type PowershellObject, textOf } from '../../tools/windows/powershell.ts';
import type { PendingUpdate } from '../updates.ts';
import { windowsRows } from './rows.ts';

/** The search asks Microsoft, or the company's own server, and takes its time. */
const LIMIT_MS = 300_000;
const SCRIPT = `
  $session = New-Object -ComObject Microsoft.Update.Session
  $found = $session.CreateUpdateSearcher().Search('IsInstalled=0 and IsHidden=0')
  foreach ($update in $found.Updates) { @{
    id = $update.Identity.UpdateID; title = $update.Title; severity = $update.MsrcSeverity
    kb = @($update.KBArticleIDs | ForEach-Object { [string]$_ }); size = [long]$update.MaxDownloadSize
    kind = $update.Type; reboot = $update.InstallationBehavior.RebootBehavior
    groups = @($update.Categories | ForEach-Object { $_.CategoryID })
  } }
`;
/** Categories of Windows Update by id: their names are translated. */
const SECURITY = '0fa1201d-4330-4fa8-8ae9-b877473b6441';
const DRIVER = 2;
const NEVER_REBOOTS = 0;

/** Undefined when the search fails: that nothing is known is not that nothing waits. */
export async function windowsUpdates(): Promise<PendingUpdate[] | undefined> {
  return (await windowsRows(SCRIPT, LIMIT_MS))?.map(updateOf);
}

export function updateOf(row: PowershellObject): PendingUpdate {
  const kb = Array.isArray(row.kb) ? row.kb.find((id) => typeof id === 'string' && id !== '') : undefined;
  const groups = Array.isArray(row.groups) ? row.groups.map((id) => String(id).toLowerCase()) : [];
  const severity = textOf(row.severity);
  return {
    id: String(row.id),
    title: String(row.title),
    version: kb === undefined ? null : `KB${String(kb)}`,
    kind: row.kind === DRIVER ? 'driver' : groups.includes(SECURITY) || severity ? 'security' : 'other',
    severity: severity?.toLowerCase() ?? null,
    sizeBytes: typeof row.size === 'number' && row.size > 0 ? row.size : null,
    rebootRequired: Number(row.reboot) !== NEVER_REBOOTS,
  };
}
