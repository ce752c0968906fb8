/** How much of a text the wire carries. */

/** Characters. */
export const MOST_COMMAND_LINE = 1_000;
export const MOST_MESSAGE = 8_000;

/** A text of at most so many characters. */
export function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
