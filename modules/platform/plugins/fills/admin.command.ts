/** `npm run admin -- plugin …`: the catalog from the command line. */
import { defineContribution } from '#core';
import { catalogCommand } from '../services/builtin/command.ts';

export default defineContribution('admin.command', catalogCommand);
