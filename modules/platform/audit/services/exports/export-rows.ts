/** Entries as lines of a CSV or JSON file. */
import { csvLines as linesOf } from '#core';
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

/** Lines of CSV in the order of the columns; `details` as JSON. */
export const csvLines = (rows: readonly EntryRow[], { header }: { header: boolean }): string => {
  const lines = rows.map((row) => {
    const entry = { ...exported(row), details: JSON.stringify(row.details) };
    return EXPORT_COLUMNS.map((column) => entry[column] as string | null);
  });
  return linesOf(header ? [EXPORT_COLUMNS, ...lines] : lines);
};

export const jsonLines = (rows: readonly EntryRow[]): string[] => rows.map((row) => JSON.stringify(exported(row)));
