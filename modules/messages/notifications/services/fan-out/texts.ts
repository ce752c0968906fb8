/** What notices are made of: plain text of bounded length, and paths of the console. */
import { cutText } from '#core';

/** Without control characters but line breaks. */
export const plainText = (text: string, most: number): string =>
  cutText(text.replace(/[^\P{Cc}\n]/gu, ' ').trim(), most);

/** Null for none. Throws for what is no path of ours: a mistake of the module that made the notice. */
export function mustBePath(link: string | undefined): string | null {
  if (link === undefined) return null;
  if (link.length > 500 || !/^\/(?![/\\])/.test(link)) throw new Error(`a notice links to ${link}, which is no path`);
  return link;
}
