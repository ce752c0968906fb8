/** Errors of this module. */
import { defineError } from '@quartermaster/module-kit';

export const LabelTaken = defineError('LABEL_TAKEN', 409, 'Another device has this label');
export const HasLabel = defineError('DEVICE_HAS_LABEL', 409, 'The device has a label already');
export const NumbersTaken = defineError('NUMBERS_TAKEN', 409, 'People have given the next hundred numbers by hand');
