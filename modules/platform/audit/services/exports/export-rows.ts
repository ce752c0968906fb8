/** Entries as lines of a CSV or JSON file. */
import { stringify } from 'csv-stringify/sync';
import { categoryOf } from '../categories.ts';
import type { EntryRow } from '../reading/selection.ts';

/** The columns of an export, in their order; integrations rely on them. */
export const EXPORT_COLUMNS = [
  'id',
  'timestamp',
  'actorId',
  'actorName',
  'actorEmail',
  'action',
  'resourceType',
  'resourceId',
  'resourceName',
  'category',
  'result',
  'ipAddress',
  'userAgent',
  'details',
] as const;

type Exported = Record<(typeof EXPORT_COLUMNS)[number], unknown>;

export const exported = (row: EntryRow): Exported => ({
  id: row.id,
  timestamp: row.timestamp.toISOString(),
  actorId: row.actorId,
  actorName: row.actorName,
  actorEmail: row.actorEmail,
  action: row.action,
  resourceType: row.resourceType,
  resourceId: row.resourceId,
  resourceName: row.resourceName,
  category: categoryOf(row.action),
  result: row.result,
  ipAddress: row.ipAddress,
  userAgent: row.userAgent,
  details: row.details,
});

/**
 * RFC 4180 except for line ends. A cell that a spreadsheet would run as a formula gets an apostrophe in front, because the
 * data comes from tenants and administrators open the file.
 */
export const csvLines = (rows: readonly EntryRow[], { header }: { header: boolean }): string =>
  stringify(
    rows.map((row) => ({ ...exported(row), details: JSON.stringify(row.details) })),
    { columns: [...EXPORT_COLUMNS], header, escape_formulas: true, quoted_match: /[\r\n]/ },
  );

export const jsonLines = (rows: readonly EntryRow[]): string[] => rows.map((row) => JSON.stringify(exported(row)));
