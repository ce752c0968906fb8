/** Fills a slot of features and one that guards. */
import { defineFilling } from '#core';

export default [
  defineFilling({ slot: 'anchor.word', value: { word: 'lamp' } }),
  defineFilling({ slot: 'anchor.guard', value: { word: 'lamp' } }),
];
