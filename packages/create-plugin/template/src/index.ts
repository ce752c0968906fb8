/** Greets devices that join. */
import { definePlugin, type PluginContext, type PluginEvent } from '@quartermaster/plugin-sdk';

type Context = PluginContext<{ greeting: string }>;

export default definePlugin({
  handlers: {
    async onEnrolled(event: PluginEvent<{ hostname?: string }>, ctx: Context) {
      // An event may come more than once, always with the same id.
      const known = await ctx.kv.get(`event/${event.id}`);
      if (known) return;
      ctx.log.info(`${ctx.config.greeting}, ${event.data.hostname ?? 'device'}`, { deviceId: event.deviceId });
      await ctx.kv.set(`event/${event.id}`, event.occurredAt);
    },

    async count(_call: unknown, ctx: Context) {
      const greeted = await ctx.kv.list({ prefix: 'event/' });
      return { greetings: greeted.length };
    },
  },
});
