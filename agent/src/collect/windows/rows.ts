/** Asks PowerShell for the rows of an inventory; what it does not tell is unknown, not a fault. */
import { askSystem } from '../../process/ask.ts';
import { type PowershellObject, powershell, rows } from '../../tools/windows/powershell.ts';

const LIMIT_MS = 60_000;

/** The objects a constant script yields, or undefined when it fails or takes longer than `limitMs`. */
export async function windowsRows(script: string, limitMs = LIMIT_MS): Promise<PowershellObject[] | undefined> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), limitMs);
  try {
    return rows(await powershell(askSystem, script, { about: 'the inventory', signal: limit.signal }));
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}
