/** Values as people read them, in the document's time zone and language. */
import type { CellValue, DocumentDeclaration, ValueKind } from './document.ts';
import { isCounted } from './document.ts';

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

export type Shown = (value: CellValue, kind: ValueKind) => string;

/** Control characters have no glyph and are not allowed in XML; half surrogate pairs are not allowed in UTF-8. */
export const plainText = (value: CellValue): string => {
  if (value === null || value === undefined) return '';
  const text = value instanceof Date ? value.toISOString() : String(value);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  return text.toWellFormed().replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\ufffe\uffff]/g, '');
};

/** The number of a value, or null where it has none. */
export function numberOf(value: CellValue): number | null {
  if (value === null || value === undefined || value === '' || value instanceof Date) return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

export function dateOf(value: CellValue): Date | null {
  if (value === null || value === undefined || typeof value === 'boolean' || typeof value === 'bigint') return null;
  const date = value instanceof Date ? value : new Date(value);
  return Number.isNaN(date.getTime()) ? null : date;
}

/** A day that is written as one has no time zone to be moved by. */
export const isDay = (value: CellValue): value is string => typeof value === 'string' && DAY.test(value);

export function showValues({ zone, locale }: Pick<DocumentDeclaration, 'zone' | 'locale'>): Shown {
  const whole = new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
  const decimal = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 });
  const percent = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 });
  const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: zone });
  const civil = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' });
  const moment = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone: zone });
  const counted = (number: number, kind: ValueKind) => {
    if (kind === 'percent') return percent.format(number);
    if (kind === 'number') return decimal.format(number);
    if (kind === 'integer') return whole.format(number);
    const step = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, Math.abs(number))) / 10)));
    return `${decimal.format(number / 1024 ** step)} ${UNITS[step]}`;
  };
  return (value, kind) => {
    if (isCounted(kind)) {
      const number = numberOf(value);
      return number === null ? plainText(value) : counted(number, kind);
    }
    if (kind === 'text') return plainText(value);
    const date = dateOf(value);
    if (!date) return plainText(value);
    if (kind === 'datetime') return moment.format(date);
    return (isDay(value) ? civil : day).format(date);
  };
}

/** The same moment with the clock of `zone` as its UTC fields: files without time zones hold what people read. */
export function wallClock(zone: string): (date: Date) => Date {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
  return (date) => {
    const field = Object.fromEntries(parts.formatToParts(date).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = field;
    return new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  };
}
