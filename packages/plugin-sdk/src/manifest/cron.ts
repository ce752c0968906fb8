/** Cron lines of manifests: five fields, and never more often than every five minutes. */

const FIELDS: [string, number, number][] = [
  ['minute', 0, 59],
  ['hour', 0, 23],
  ['day of month', 1, 31],
  ['month', 1, 12],
  ['day of week', 0, 6],
];
const LEAST_MINUTES = 5;

/** What is wrong with a line; null where nothing is. */
export function cronFault(line: string): string | null {
  const parts = line.trim().split(/\s+/);
  if (parts.length !== FIELDS.length)
    return 'A cron line has five fields: minute, hour, day of month, month, day of week';
  for (const [index, [name, least, most]] of FIELDS.entries()) {
    if (!valuesOf(parts[index] ?? '', least, most)) return `The field ${name} is not valid`;
  }
  const minutes = [...(valuesOf(parts[0] ?? '', 0, 59) ?? [])].sort((a, b) => a - b);
  for (const [index, minute] of minutes.entries()) {
    const next = minutes[index + 1] ?? (minutes[0] ?? 0) + 60;
    if (next - minute < LEAST_MINUTES) return `At most every ${LEAST_MINUTES} minutes`;
  }
  return null;
}

/** `*`, `5`, `1-5`, each with an optional step, and lists of them. */
function valuesOf(text: string, least: number, most: number): Set<number> | null {
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const match = /^(?:(\*)|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(part);
    if (!match) return null;
    const [, star, first, last, step] = match;
    const from = star ? least : Number(first);
    const to = star || (step && last === undefined) ? most : Number(last ?? first);
    const by = step === undefined ? 1 : Number(step);
    if (from < least || to > most || from > to || by < 1) return null;
    for (let value = from; value <= to; value += by) values.add(value);
  }
  return values;
}
