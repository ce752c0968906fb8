/** Asks systemd about its units: lists them, shows their properties, changes them. */
import { ToolError } from '../contract.ts';
import { type Ask, complaintOf } from './ask.ts';

/** The properties of one unit, as `systemctl show` prints them. */
export type Unit = ReadonlyMap<string, string>;

/** Arguments of one call: far below what the system allows, whatever the names. */
const MAX_NAMES = 500;

/** Blocks of `Name=value` lines, one block a unit. A property that comes several times is joined by line breaks. */
export function parseShow(text: string): Unit[] {
  return text
    .split(/\n\s*\n/)
    .map((block) => {
      const unit = new Map<string, string>();
      for (const line of block.split('\n')) {
        const at = line.indexOf('=');
        if (at <= 0) continue;
        const name = line.slice(0, at);
        const before = unit.get(name);
        unit.set(name, before === undefined ? line.slice(at + 1) : `${before}\n${line.slice(at + 1)}`);
      }
      return unit;
    })
    .filter((unit) => unit.size > 0);
}

/** Names of `list-units` and `list-unit-files`, without templates: those start nothing. */
export function parseNames(text: string, suffix: string): string[] {
  return text.split('\n').flatMap((line) => {
    const name = /^[●*○×]?\s*(\S+)/u.exec(line.trim())?.[1];
    return name?.endsWith(suffix) && !name.endsWith(`@${suffix}`) ? [name] : [];
  });
}

/** All units of a kind, running or only installed, each once. */
export async function unitNames(kind: 'service' | 'timer', ask: Ask, signal: AbortSignal): Promise<string[]> {
  const plain = ['--plain', '--no-legend', '--no-pager', '--full', `--type=${kind}`];
  const loaded = await ask('systemctl', ['list-units', '--all', ...plain], { signal });
  const installed = await ask('systemctl', ['list-unit-files', ...plain], { signal });
  const text = `${loaded.stdout}\n${installed.stdout}`;
  return [...new Set(parseNames(text, `.${kind}`))].sort();
}

export async function showUnits(
  names: readonly string[],
  properties: readonly string[],
  ask: Ask,
  signal: AbortSignal,
): Promise<Unit[]> {
  const units: Unit[] = [];
  for (let at = 0; at < names.length; at += MAX_NAMES) {
    const args = ['show', '--no-pager', `--property=${properties.join(',')}`, '--', ...names.slice(at, at + MAX_NAMES)];
    units.push(...parseShow((await ask('systemctl', args, { signal })).stdout));
  }
  return units;
}

/** Runs one verb of systemctl. Throws DENIED, CONFLICT for a masked unit, or what systemctl complained about. */
export async function changeUnit(args: readonly string[], name: string, ask: Ask, signal: AbortSignal): Promise<void> {
  const answer = await ask('systemctl', ['--no-ask-password', '--no-pager', ...args, '--', name], { signal });
  if (answer.code === 0) return;
  const complaint = complaintOf('systemctl', answer);
  if (/access denied|authentication required|permission denied/i.test(complaint))
    throw new ToolError('DENIED', complaint);
  if (/is masked/i.test(complaint)) throw new ToolError('CONFLICT', complaint);
  if (/not found|could not be found|not loaded/i.test(complaint)) throw new ToolError('NOT_FOUND', complaint);
  throw new Error(complaint);
}

/** A time as `systemctl show` prints it in UTC ("Sun 2024-05-05 06:00:00 UTC"); null for one that is not known. */
export function timeOf(text: string | undefined): string | null {
  const found = /(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(\.\d+)? UTC/.exec(text ?? '');
  return found ? new Date(`${found[1]}T${found[2]}${found[3]?.slice(0, 4) ?? ''}Z`).toISOString() : null;
}

/** Program and arguments of a unit's first `ExecStart`. */
export function commandOf(unit: Unit): { path: string; line: string } | undefined {
  const [, path, line] = /\{ path=(.*?) ; argv\[\]=(.*?) ; ignore_errors=/.exec(unit.get('ExecStart') ?? '') ?? [];
  return path ? { path, line: (line ?? path).slice(0, 1_000) } : undefined;
}
