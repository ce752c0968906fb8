/** COPY FROM STDIN through bare pg: the fastest way of rows into a table, what ingestion is measured against. */
import pg from 'pg';

interface Wire {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/** One COPY as pg's client takes it: an object that answers the protocol's messages. */
class Copy {
  readonly done: Promise<void>;
  private readonly text: string;
  private readonly rows: Buffer;
  private resolve: () => void = () => undefined;
  private reject: (error: Error) => void = () => undefined;

  constructor(text: string, rows: Buffer) {
    this.text = text;
    this.rows = rows;
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  submit(connection: Wire): void {
    connection.query(this.text);
  }
  handleCopyInResponse(connection: Wire): void {
    connection.sendCopyFromChunk(this.rows);
    connection.endCopyFrom();
  }
  handleCommandComplete(): void {}
  handleReadyForQuery(): void {
    this.resolve();
  }
  handleError(error: Error): void {
    this.reject(error);
  }
}

/** @param rows tab-separated lines, as COPY reads them; returns rows a second of one statement. */
export async function copyRows(databaseUrl: string, into: string, rows: string[]): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const copy = new Copy(`copy ${into} from stdin`, Buffer.from(`${rows.join('\n')}\n`));
  const begin = performance.now();
  client.query(copy as unknown as pg.Submittable);
  await copy.done;
  const seconds = (performance.now() - begin) / 1000;
  await client.end();
  return rows.length / seconds;
}
