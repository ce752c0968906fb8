/** The label of one device. */
import { column, defineTable, type InputOf, type PageQuery, pageQuery } from '@quartermaster/module-kit';
import Joi from 'joi';

const text = Joi.string().trim().min(1).max(40);

const labels = defineTable('acme_asset_labels', {
  id: column.uuid(),
  orgId: column.uuid(),
  deviceId: column.uuid(),
  label: column.text(text),
  createdBy: column.nullable(column.uuid()),
  createdAt: column.time(),
  updatedAt: column.time(),
});

export class AssetLabel extends labels.Model {
  /** Callers reach the labels of the devices that they reach. */
  static override deviceColumn = 'device_id';
}

export interface LabelQuery extends PageQuery {
  orgId?: string;
  label?: string;
}
export const labelQuery = Joi.object<LabelQuery>({
  ...pageQuery(),
  orgId: Joi.string().uuid(),
  label: text.description('Exactly this one'),
});

export const labelCreate = labels
  .input(['deviceId', 'label'], { required: ['deviceId'] })
  .fork('label', (schema) => schema.description('The next number where it is left out'));
export const labelUpdate = labels.input(['label'], { required: ['label'] });
export const labelShape = labels.answer();
export type LabelCreate = InputOf<typeof labelCreate>;
export type LabelUpdate = InputOf<typeof labelUpdate>;
