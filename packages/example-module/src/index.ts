/** Asset labels: the number on the sticker, kept with the device. */
import { type Context, defineModule } from '@quartermaster/module-kit';
import { settings } from './models/settings.ts';
import { labelOf } from './services/labels.ts';

/** What other modules may ask: `ctx.use('acme-asset-labels')`. */
const api = (ctx: Context) => ({
  labelOf: (deviceId: string) => labelOf(ctx, deviceId),
});

declare module '@quartermaster/module-kit/contract' {
  interface Apis {
    'acme-asset-labels': ReturnType<typeof api>;
  }
  interface Events {
    'acme-asset-labels.assigned': { label: string };
  }
}

export default defineModule({
  name: 'acme-asset-labels',
  title: 'Asset labels',
  summary: 'Numbers on devices, given by hand or as devices enroll',
  requires: ['devices', 'search'],
  default: 'on',
  group: 'devices',
  events: ['acme-asset-labels.assigned'],
  settings,
  objects: { 'asset labels': 'acme_asset_labels' },
  api,
});
