/** What the results of live tools have in common: why a tool refuses, and pages of a list. */

/** Why a tool refused; travels as `{ status: 'failed', error: message, result: { code } }`. */
export const TOOL_CODES = [
  'NOT_FOUND',
  'DENIED',
  'PROTECTED',
  'CONFLICT',
  'INVALID',
  'UNSUPPORTED_OS',
  'UNSUPPORTED',
  'FILE_LOCKED',
  'TOO_LARGE',
  'TIMEOUT',
] as const;
export type ToolCode = (typeof TOOL_CODES)[number];

/** Items of one page. */
export const MAX_PAGE_ITEMS = 500;

export interface Page {
  /** From 1. */
  page: number;
  limit: number;
}
/** One page of a list that was filtered, sorted and cut on the device; `total` is null where counting costs too much. */
export interface Paged<T> {
  items: T[];
  total: number | null;
}
