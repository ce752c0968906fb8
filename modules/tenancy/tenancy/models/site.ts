/** A location of an organization. */

import Joi from 'joi';
import { column, defineTable, type InputOf, named, openObject, type RowOf, timezone } from '#core';

const sites = defineTable('sites', {
  id: column.uuid(),
  orgId: column.uuid(),
  name: column.text(Joi.string().trim().min(1).max(255)),
  address: column.nullable(column.object(openObject(16_384))),
  timezone: column.text(timezone),
  contact: column.nullable(column.object(openObject(16_384))),
  settings: column.object(openObject(16_384)),
  createdAt: column.time(),
  updatedAt: column.time(),
});
export type SiteFields = RowOf<typeof sites>;

export class Site extends sites.Model {
  static override siteColumn = 'id';
  static override jsonAttributes = ['address', 'contact', 'settings'];
}

export const siteShape = named('Site', sites.answer());
export const siteCreate = named(
  'SiteCreate',
  sites.input(['orgId', 'name', 'address', 'timezone', 'contact', 'settings'], {
    required: ['orgId', 'name'],
    defaults: { timezone: 'UTC' },
  }),
);
export const siteUpdate = named('SiteUpdate', sites.input(['name', 'address', 'timezone', 'contact', 'settings']));
export type SiteCreate = InputOf<typeof siteCreate>;
export type SiteUpdate = InputOf<typeof siteUpdate>;
