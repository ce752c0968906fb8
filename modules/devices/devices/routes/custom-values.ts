/** POST /devices/bulk/custom-fields: the same custom values on many devices. */
import { defineRoute } from '#core';
import { bulkValues, bulkValuesAnswer } from '../models/bulk-values.ts';
import { writeBulkValues } from '../services/inventory/bulk-values.ts';

export default [
  defineRoute({
    method: 'POST',
    path: '/devices/bulk/custom-fields',
    summary: 'Writes the same custom values to many devices, and returns the devices that did not accept them',
    access: { permission: 'devices:write' },
    audit: 'device.custom_fields.update',
    payload: bulkValues,
    response: bulkValuesAnswer,
    handler: (ctx, input) => writeBulkValues(ctx, input.payload),
  }),
];
