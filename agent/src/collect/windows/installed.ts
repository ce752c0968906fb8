/** The updates that were installed on Windows, from the history of the Windows Update Agent (COM). */
import type { Patch } from '#agent-protocol';
import { instantOf, type PowershellObject, textOf } from '../../tools/windows/powershell.ts';
import { windowsRows } from './rows.ts';

const LIMIT_MS = 120_000;
/** Newest first. Operation 1 is an installation, results 2 and 3 are successes; both are numbers in every language. */
const SCRIPT = `
  $searcher = (New-Object -ComObject Microsoft.Update.Session).CreateUpdateSearcher()
  $count = [Math]::Min($searcher.GetTotalHistoryCount(), 2000)
  if ($count -gt 0) {
    foreach ($entry in $searcher.QueryHistory(0, $count)) {
      if ($entry.Operation -eq 1 -and ($entry.ResultCode -eq 2 -or $entry.ResultCode -eq 3)) { @{
        id = $entry.UpdateIdentity.UpdateID; title = $entry.Title; date = (Stamp $entry.Date)
      } }
    }
  }
`;

/** Empty when the history cannot be read. */
export async function windowsInstalled(): Promise<Patch[]> {
  return historyOf((await windowsRows(SCRIPT, LIMIT_MS)) ?? []);
}

/** One for each update: a definition that comes again keeps its newest date. */
export function historyOf(rows: readonly PowershellObject[]): Patch[] {
  const found = new Map<string, Patch>();
  for (const row of rows) {
    const id = textOf(row.id);
    const title = textOf(row.title);
    if (id === null || title === null || found.has(id)) continue;
    const kb = /\bKB\d{5,8}\b/i.exec(title)?.[0];
    const installedAt = instantOf(row.date);
    found.set(id, {
      externalId: id.slice(0, 255),
      source: 'microsoft',
      title: title.slice(0, 500),
      ...(kb && { version: kb.toUpperCase() }),
      packageId: id.slice(0, 255),
      ...(installedAt && { installedAt }),
    });
  }
  return [...found.values()];
}
