/** A Knex bound to one piece of work: its connection is taken, and its transaction begun, when the first query runs. */
import { createRequire } from 'node:module';
import knexFactory, { type Knex } from 'knex';
import { knexSnakeCaseMappers } from 'objection';
import type pg from 'pg';

// knex.transaction() begins at once; only its inner makeKnex lets the client decide when to connect. Version is pinned.
const makeKnex = createRequire(import.meta.url)('knex/lib/knex-builder/make-knex.js') as (client: object) => Knex;
// camelCase in code, snake_case in the database, for models and plain queries alike.
const base = knexFactory({ client: 'pg', ...knexSnakeCaseMappers() });

/** @param connect gives the work's connection, the same one each time, with its transaction open. */
export function bindKnex(connect: () => Promise<pg.PoolClient>): Knex {
  const client = Object.create(base.client, {
    // Own listener lists: otherwise each bound Knex would add its listeners to the shared client.
    _events: { value: Object.create(null), writable: true },
    _eventsCount: { value: 0, writable: true },
  });
  client.acquireConnection = connect;
  client.releaseConnection = async () => undefined;
  client.transacting = true;
  const bound = makeKnex(client);
  bound.isTransaction = true;
  return bound;
}
