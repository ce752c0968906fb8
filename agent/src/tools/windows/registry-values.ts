/** Values of the registry: between the types of the wire and those of .NET. */
import type { RegistryValueItem } from '#agent-protocol';
import { ToolError } from '../contract.ts';
import { cut } from '../limits.ts';
import type { Row } from './powershell.ts';

const KINDS: Record<string, string> = {
  REG_SZ: 'String',
  REG_EXPAND_SZ: 'ExpandString',
  REG_MULTI_SZ: 'MultiString',
  REG_DWORD: 'DWord',
  REG_QWORD: 'QWord',
  REG_BINARY: 'Binary',
};
const TYPES: Record<string, string> = {
  ...Object.fromEntries(Object.entries(KINDS).map(([type, kind]) => [kind, type])),
  None: 'REG_NONE',
};
/** Characters that one value may show; beside others, or alone. */
const MOST = { list: 4_096, single: 1_000_000 };
const MOST_QWORD = 2n ** 64n - 1n;

/** What goes to .NET; throws INVALID when the data do not fit the type. Binary data may also be an array of bytes. */
export function encode(type: string, data: unknown): { kind: string; data: unknown } {
  const kind = Object.hasOwn(KINDS, type) ? KINDS[type] : undefined;
  if (!kind) throw new ToolError('INVALID', `Values of type ${type} are not written`);
  const fits = encodings[type]?.(data);
  if (fits === undefined) throw new ToolError('INVALID', `The data do not fit the type ${type}`);
  return { kind, data: fits };
}

const text = (data: unknown): string | undefined =>
  typeof data === 'string' && !data.includes('\0') ? data : undefined;

const encodings: Record<string, (data: unknown) => unknown> = {
  REG_SZ: text,
  REG_EXPAND_SZ: text,
  // An empty text would end the list for Windows.
  REG_MULTI_SZ: (data) => (Array.isArray(data) && data.every((line) => line !== '' && text(line)) ? data : undefined),
  REG_DWORD: (data) => (Number.isInteger(data) && Number(data) >= 0 && Number(data) < 2 ** 32 ? data : undefined),
  REG_QWORD: (data) =>
    typeof data === 'string' && /^\d{1,20}$/.test(data) && BigInt(data) <= MOST_QWORD ? data : undefined,
  REG_BINARY(data) {
    if (typeof data === 'string') return /^([\w+/]{4})*([\w+/]{2}==|[\w+/]{3}=)?$/.test(data) ? data : undefined;
    const bytes = Array.isArray(data) && data.every((byte) => Number.isInteger(byte) && byte >= 0 && byte <= 255);
    return bytes ? Buffer.from(data as number[]).toString('base64') : undefined;
  },
};

/** A value as the wire carries it; long data are cut and marked. */
export function toValue(row: Row, among: keyof typeof MOST): RegistryValueItem {
  const most = MOST[among];
  const item = { name: String(row.name ?? ''), type: TYPES[String(row.kind)] ?? 'REG_UNKNOWN' };
  if (typeof row.number === 'number') return { ...item, data: row.number, truncated: false };
  if (Array.isArray(row.list)) {
    let room = most;
    const shown = row.list.map(String).filter((line) => {
      room -= line.length;
      return room >= 0;
    });
    return { ...item, data: shown, truncated: shown.length < row.list.length };
  }
  if (typeof row.base64 === 'string') {
    // A multiple of four characters stays decodable.
    const whole = row.base64.length <= most;
    return { ...item, data: whole ? row.base64 : row.base64.slice(0, most - (most % 4)), truncated: !whole };
  }
  if (typeof row.text !== 'string') return { ...item, data: null, truncated: false };
  return { ...item, data: cut(row.text, most), truncated: row.text.length > most };
}

/** How many bytes the registry keeps for a value; texts are UTF-16 and end in NUL. */
export function bytesOf(row: Row): number {
  if (typeof row.number === 'number') return 4;
  if (row.kind === 'QWord') return 8;
  if (typeof row.base64 === 'string') return Buffer.byteLength(row.base64, 'base64');
  if (Array.isArray(row.list)) return row.list.reduce((sum: number, line) => sum + 2 * (String(line).length + 1), 2);
  return typeof row.text === 'string' ? 2 * (row.text.length + 1) : 0;
}
