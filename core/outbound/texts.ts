/** Text of tenants and devices on its way into messages: in one line, of bounded length, and no markup. */
import { createHash } from 'node:crypto';

/** Removes line breaks, so that a name cannot add lines. */
export const oneLine = (text: string): string => text.replace(/[\p{Cc}\s]+/gu, ' ').trim();

/** Ends in … where it was longer. */
export function cutText(text: string, most: number): string {
  const letters = [...text.toWellFormed()];
  return letters.length <= most ? letters.join('') : `${letters.slice(0, most - 1).join('')}…`;
}

const SIGNS: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (sign) => SIGNS[sign] ?? '');

/** A mail's id that is the same for the same thing: it identifies repeats, and threads refer to it. */
export function mailIdOf(publicUrl: string, about: string): string {
  const host = new URL(publicUrl).hostname.replace(/[^\w.-]/g, '');
  return `<${createHash('sha256').update(about).digest('hex').slice(0, 32)}@${host}>`;
}
