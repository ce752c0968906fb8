/** Patterns that tenants write for text fields: RE2 syntax, matched in linear time. */
import { RE2JS } from 're2js';

/** `.` also matches line breaks, because values of multi-line fields are matched as a whole. */
const compile = (pattern: string): RE2JS => RE2JS.compile(pattern, RE2JS.DOTALL);

/** Whether the text is a regular expression in RE2 syntax; look-arounds and back-references are not part of it. */
export function isPattern(pattern: string): boolean {
  try {
    compile(pattern);
    return true;
  } catch {
    return false;
  }
}

/** Whether the whole text matches. Throws for an invalid pattern. */
export const matches = (pattern: string, text: string): boolean => compile(pattern).matches(text);
