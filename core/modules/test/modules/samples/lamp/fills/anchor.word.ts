/** The lamp's contribution to the slot anchor.word. */
import { defineContribution } from '#core';

export default defineContribution('anchor.word', { word: 'lamp' });
