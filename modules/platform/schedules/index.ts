/** Schedules: what other modules want done again and again, in the time zone of their choice. */
import { defineModule } from '#core';
import { api } from './api.ts';

export default defineModule({
  name: 'schedules',
  title: 'Schedules',
  summary: 'Runs what other modules schedule, each occurrence once, in any time zone',
  requires: [],
  core: true,
  api,
});
