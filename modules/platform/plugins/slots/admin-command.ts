/** `npm run admin -- plugin …`: the catalog from the command line. */
import { defineFilling } from '#core';
import { catalogCommand } from '../services/builtin/command.ts';

export default defineFilling({ slot: 'admin.command', value: catalogCommand });
