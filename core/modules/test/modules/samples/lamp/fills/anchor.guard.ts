/** The lamp's contribution to the slot anchor.guard. */
import { defineContribution } from '#core';

export default defineContribution('anchor.guard', { word: 'lamp' });
