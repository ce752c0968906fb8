/** Patterns that tenants write for text fields: RE2 syntax, matched in time linear in the text whatever the pattern. */
import { RE2JS } from 're2js';

/** `.` matches line breaks, too: values of multi-line fields are matched as a whole. */
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

/** Whether the whole text matches. Throws for a pattern that `isPattern` refuses. */
export const matches = (pattern: string, text: string): boolean => compile(pattern).matches(text);
