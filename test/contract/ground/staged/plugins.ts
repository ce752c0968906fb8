/** Calls about plugins that run: installed, enabled, invoked. */
import { openGround, openTenant } from '../../../../modules/platform/plugins/test/ground.ts';
import type { Staged, Stages } from './stage.ts';

const SOURCE = 'export default { handlers: { greet: () => ({ text: "Hello" }) } };';

export async function pluginStages(): Promise<{ stages: Stages; stop(): Promise<void> }> {
  const ground = await openGround({ LOG_LEVEL: 'silent' });
  const at = await openTenant(ground);
  const { token } = at.orgAdmin;
  const action = { name: 'greet', label: 'Greet', target: 'org' as const, permission: 'devices:read' };
  const greeter = (slug: string) => ground.register({ slug, name: 'Greeter', actions: [action] }, SOURCE);
  const here = (call: Staged): Staged => ({ ...call, at: ground.platform, token });
  const stages: Stages = {
    'POST /plugins/installations': async () => {
      const { slug } = await greeter('greeter');
      return here({ path: '/plugins/installations', body: { slug, grantPermissions: [] } });
    },
    'POST /plugins/installations/{id}/enable': async () => {
      const { body } = await at.install(await greeter('second-greeter'));
      await ground.platform.runJobs();
      return here({ path: `/plugins/installations/${body.data.id}/enable` });
    },
    'POST /plugins/installations/{id}/invoke/{action}': async () => {
      const { id } = await at.run(await greeter('third-greeter'));
      return here({ path: `/plugins/installations/${id}/invoke/greet`, body: {} });
    },
  };
  return { stages, stop: () => ground.stop() };
}
