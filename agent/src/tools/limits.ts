/** How much of a text the wire carries. */

/** Characters. */
export const MAX_COMMAND_LINE_CHARACTERS = 1_000;
export const MAX_MESSAGE_CHARACTERS = 8_000;

/** A text of at most so many characters. */
export function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
