/** A manifest that is valid, for tests to bend. */
import type { Manifest } from '../src/manifest/types.ts';

export const manifest = (changes: Partial<Manifest> = {}): Manifest => ({
  manifestVersion: 1,
  slug: 'ticket-bridge',
  name: 'Ticket bridge',
  version: '1.2.3',
  description: 'Opens tickets elsewhere',
  author: 'Example Ltd',
  license: 'MIT',
  type: 'integration',
  engine: { api: '^1.0.0' },
  main: 'dist/index.js',
  ...changes,
});
