/** The signature of plain SQL on the transaction of a unit of work. */
import type { QueryResult, QueryResultRow } from 'pg';

/** Runs one statement. A `name` makes it a prepared statement of the connection. */
export type Sql = <R extends QueryResultRow>(
  text: string,
  values?: unknown[],
  name?: string,
) => Promise<QueryResult<R>>;
