/** What a document is made of, and whether a declaration can be written. */
import { ValidationFailed } from '../errors.ts';

export const DOCUMENT_FORMATS = ['csv', 'xlsx', 'pdf'] as const;
export type DocumentFormat = (typeof DOCUMENT_FORMATS)[number];

/** `percent` is a share (0.5 is 50 %), `bytes` a number of bytes, `date` a day in the document's time zone or `YYYY-MM-DD`. */
export type ValueKind = 'text' | 'integer' | 'number' | 'percent' | 'date' | 'datetime' | 'bytes';
export type CellValue = string | number | bigint | boolean | Date | null | undefined;

export interface DocumentColumn {
  key: string;
  label: string;
  kind: ValueKind;
  /** Its share of the page's width, beside the other columns'. */
  width?: number;
  align?: 'left' | 'right';
  /** Shown below the last row; only for kinds that are numbers. */
  total?: 'sum' | 'average';
}

export type DocumentRow = Readonly<Record<string, CellValue>>;

export interface TableSection {
  type: 'table';
  heading?: string;
  columns: readonly DocumentColumn[];
  /** Read once, one row at a time, as fast as the reader takes the document. */
  rows: AsyncIterable<DocumentRow> | Iterable<DocumentRow>;
}

/** Up to {@link MAX_CHART_VALUES} values. */
export interface ChartSection {
  type: 'bar-chart' | 'line-chart';
  heading: string;
  kind: ValueKind;
  values: readonly { label: string; value: number }[];
}

export interface FiguresSection {
  type: 'figures';
  heading?: string;
  figures: readonly { label: string; kind: ValueKind; value: CellValue }[];
}

export type DocumentSection = TableSection | ChartSection | FiguresSection;

export interface DocumentDeclaration {
  title: string;
  subtitle?: string;
  generatedAt: Date;
  /** A PNG or JPEG image of at most 1 MiB, for PDF. */
  logo?: Uint8Array;
  /** `#rrggbb`, for PDF. */
  accent?: string;
  /** An IANA time zone, for dates. */
  zone: string;
  /** A BCP 47 language tag, for dates and numbers in PDF. */
  locale: string;
  /** Begin a CSV file with U+FEFF, by which Excel recognizes UTF-8. */
  byteOrderMark?: boolean;
  sections: readonly DocumentSection[];
}

export const MAX_CHART_VALUES = 60;
const MAX_COLUMNS = 40;
const MAX_LOGO_BYTES = 1_048_576;
const MAX_LOGO_SIDE = 4_000;
const COUNTED: readonly ValueKind[] = ['integer', 'number', 'percent', 'bytes'];

export const isCounted = (kind: ValueKind): boolean => COUNTED.includes(kind);

/** Throws 400 VALIDATION_ERROR with the path of each fault. */
export function mustBeWritable(document: DocumentDeclaration): void {
  const faults: { path: string; message: string }[] = [];
  const fault = (path: string, message: string) => faults.push({ path, message });
  if (!isLocale(document.locale)) fault('locale', 'is no language tag');
  if (!isZone(document.zone)) fault('zone', 'is no IANA time zone');
  if (document.accent !== undefined && !/^#[0-9a-f]{6}$/i.test(document.accent)) fault('accent', 'must be #rrggbb');
  if (document.logo) {
    const problem = faultOfLogo(document.logo);
    if (problem) fault('logo', problem);
  }
  for (const [at, section] of document.sections.entries()) {
    for (const [path, message] of faultsOfSection(section)) fault(`sections.${at}.${path}`, message);
  }
  if (faults.length > 0) throw ValidationFailed({ details: faults });
}

function* faultsOfSection(section: DocumentSection): Generator<[string, string]> {
  if (section.type === 'figures') return;
  if (section.type !== 'table') {
    if (section.values.length > MAX_CHART_VALUES) yield ['values', `must be at most ${MAX_CHART_VALUES}`];
    if (section.values.some(({ value }) => !Number.isFinite(value))) yield ['values', 'must be finite numbers'];
    return;
  }
  const { columns } = section;
  if (columns.length === 0 || columns.length > MAX_COLUMNS) yield ['columns', `must be 1 to ${MAX_COLUMNS}`];
  if (new Set(columns.map(({ key }) => key)).size < columns.length) yield ['columns', 'must have different keys'];
  for (const [at, { width, total, kind }] of columns.entries()) {
    if (width !== undefined && !(width > 0 && width <= 100))
      yield [`columns.${at}.width`, 'must be over 0, at most 100'];
    if (total && !isCounted(kind)) yield [`columns.${at}.total`, `cannot be made of the kind ${kind}`];
  }
}

const isLocale = (tag: string) => works(() => Intl.getCanonicalLocales(tag).length === 1);
const isZone = (zone: string) => works(() => new Intl.DateTimeFormat('en', { timeZone: zone }).format() !== '');

function works(attempt: () => boolean): boolean {
  try {
    return attempt();
  } catch {
    return false;
  }
}

/** By the image's own header: its size decides how much memory it takes once it is unpacked. */
function faultOfLogo(bytes: Uint8Array): string | null {
  if (bytes.length > MAX_LOGO_BYTES) return `must have at most ${MAX_LOGO_BYTES} bytes`;
  const size = sizeOfPng(Buffer.from(bytes)) ?? sizeOfJpeg(Buffer.from(bytes));
  if (!size) return 'is neither a PNG nor a JPEG image';
  const [width, height] = size;
  return Math.min(width, height) < 1 || Math.max(width, height) > MAX_LOGO_SIDE
    ? `must be 1 to ${MAX_LOGO_SIDE} pixels wide and high`
    : null;
}

function sizeOfPng(bytes: Buffer): [number, number] | null {
  const isPng = bytes.length > 33 && bytes.subarray(0, 8).equals(Buffer.from('89504e470d0a1a0a', 'hex'));
  return isPng ? [bytes.readUInt32BE(16), bytes.readUInt32BE(20)] : null;
}

function sizeOfJpeg(bytes: Buffer): [number, number] | null {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return null;
  for (let at = 2; at + 9 < bytes.length && bytes[at] === 0xff; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)];
  }
  return null;
}
