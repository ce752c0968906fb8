/** People may be limited to groups: says which of those named there are. */
import { defineFilling } from '#core';
import { missing } from '../services/reach.ts';

export default defineFilling({ slot: 'users.device-groups', value: { missing } });
