/** What doctor says about proxies. */
import test from 'ava';
import { readConfig } from '#config';
import { checkProxies } from '../doctor/proxy-checks.ts';
import { Report } from '../doctor/report.ts';

/** A report that keeps what it would print. */
class Kept extends Report {
  told = '';
  override async check(_name: string, _fix: string, run: () => Promise<string>): Promise<boolean> {
    try {
      this.told = await run();
      return true;
    } catch (error) {
      this.failed = true;
      this.told = (error as Error).message;
      return false;
    }
  }
}
async function examined(env: Record<string, string>): Promise<{ failed: boolean; told: string }> {
  const report = new Kept();
  await checkProxies(report, readConfig(env));
  return report;
}

test('doctor tells which entry counts, and fails where all callers would share an address or could name any', async (t) => {
  t.like(await examined({}), { failed: false, told: 'none; the address of the connection counts' });
  const hidden = await examined({ PUBLIC_URL: 'https://rmm.example.com' });
  t.true(hidden.failed);
  t.regex(hidden.told, /TRUST_PROXY_HEADERS is off: all callers share its address/);
  const one = { PUBLIC_URL: 'https://rmm.example.com', TRUST_PROXY_HEADERS: 'true' };
  t.like(await examined({ ...one, HOST: '127.0.0.1', METRICS_TOKEN: 'x' }), {
    failed: false,
    told: 'x-forwarded-for from 1 in a row',
  });
  const open = await examined(one);
  t.false(open.failed);
  t.regex(open.told, /only they may reach 0\.0\.0\.0:3000; \/metrics is refused to callers through them/);
  for (const networks of ['0.0.0.0/0', '10.0.0.1,::/0']) {
    const wide = await examined({ ...one, TRUSTED_PROXIES: networks });
    t.true(wide.failed, networks);
    t.regex(wide.told, /is wider than any proxies are/);
  }
  t.false((await examined({ ...one, TRUSTED_PROXIES: '10.0.0.1,fd00::/16' })).failed);
});
