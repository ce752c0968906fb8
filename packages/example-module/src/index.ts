/** Asset labels: the number on the sticker of a device. */
import { defineModule } from '@quartermaster/module-kit';
import { api } from './api.ts';
import { settings } from './models/settings.ts';

export default defineModule({
  name: 'acme-asset-labels',
  title: 'Asset labels',
  summary: 'Numbers on devices, given by hand or as devices enroll',
  requires: ['devices', 'search'],
  default: 'on',
  group: 'devices',
  settings,
  objects: { 'asset labels': 'acme_asset_labels' },
  api,
});
