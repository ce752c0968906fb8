/** Totals of a table, counted while its rows pass. */
import type { DocumentColumn, DocumentRow } from './document.ts';
import { numberOf } from './values.ts';

export class Totals {
  private readonly columns: readonly DocumentColumn[];
  private readonly sums = new Map<string, { sum: number; count: number }>();

  constructor(columns: readonly DocumentColumn[]) {
    this.columns = columns;
    for (const { key, total } of columns) if (total) this.sums.set(key, { sum: 0, count: 0 });
  }

  add(row: DocumentRow): void {
    for (const [key, seen] of this.sums) {
      const number = numberOf(row[key]);
      if (number === null) continue;
      seen.sum += number;
      seen.count += 1;
    }
  }

  /** The last row, with "Total" in the first column that has none; null where no column has one. */
  row(): DocumentRow | null {
    if (this.sums.size === 0) return null;
    const row: Record<string, string | number | null> = {};
    const labelled = this.columns.find(({ total }) => !total);
    if (labelled) row[labelled.key] = 'Total';
    for (const { key, total } of this.columns) {
      const seen = this.sums.get(key);
      if (!seen) continue;
      if (total === 'sum') row[key] = seen.sum;
      else row[key] = seen.count > 0 ? seen.sum / seen.count : null;
    }
    return row;
  }
}
