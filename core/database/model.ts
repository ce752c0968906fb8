/** The base of every model: camelCase fields over snake_case columns, and `in(ctx)`, the one way to a query. */
import { Model as ObjectionModel, type QueryBuilder } from 'objection';
import type { Context } from '../context/index.ts';
import { reach } from './reach.ts';

type Constructor<M> = { new (): M };

export class Model extends ObjectionModel {
  static override useLimitInFirst = true;
  /** Column that holds the organization; null for tables without one. */
  static orgColumn: string | null = 'org_id';
  /** Column that holds the site, where rows lie in one. */
  static siteColumn: string | null = null;
  /** Column that holds the device a row is about, `id` for devices themselves. */
  static deviceColumn: string | null = null;
  /** True where rows may belong to the partner instead of an organization. */
  static partnerOwned = false;

  /**
   * A query limited to what the caller reaches: organizations (also guaranteed by row-level security), sites, and device
   * groups. A caller limited to groups reaches no row of a table that lies in sites and is about no device.
   * @see reach
   */
  static in<M extends ObjectionModel>(this: Constructor<M>, ctx: Context): QueryBuilder<M, M[]> {
    const model = this as unknown as typeof Model;
    const query = model.query(ctx.trx);
    const values: unknown[] = [];
    const add = (value: unknown, type: string): string => {
      values.push(value);
      return `?::${type}`;
    };
    const { orgColumn: org, siteColumn: site, deviceColumn: device, partnerOwned: isPartnerOwned } = model;
    const condition = reach(ctx, `"${model.tableName}"`, add, { org, site, device, isPartnerOwned });
    if (condition !== 'true') query.whereRaw(condition, values as string[]);
    return query as unknown as QueryBuilder<M, M[]>;
  }
}
