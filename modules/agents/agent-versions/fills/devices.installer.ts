/** Writes the command that installs the agent of a provisioned device. */
import { defineContribution } from '#core';
import { installCommand } from '../services/install-commands.ts';

export default defineContribution('devices.installer', { command: installCommand });
