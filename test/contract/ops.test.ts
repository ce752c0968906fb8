/** Metrics have the names that Prometheus expects, and the alert rules and the dashboard speak only of metrics that exist. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { startTestPlatform, tenant } from '#test';
import { ROOT } from '../../core/loader/load.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

const FUNCTIONS = /^(min|max|sum|rate|increase|topk|by|le|histogram_quantile|min_over_time)$/;
/** Names in an expression that are neither functions nor labels. */
function metricsIn(expression: string): string[] {
  const bare = expression
    .replace(/\{[^}]*\}/g, '')
    .replace(/\bby \([^)]*\)/g, '')
    .replace(/\[\w+\]/g, '');
  return (bare.match(/[a-z_][a-z0-9_]*/g) ?? []).filter((word) => !FUNCTIONS.test(word));
}

test('every metric in alert rules and dashboard exists', async (t) => {
  await tenant(platform);
  const rules = readFileSync(join(ROOT, 'ops/prometheus/rules.yml'), 'utf8');
  const expressions = [...rules.matchAll(/expr: (?:>-\n((?: {10}.*\n)+)|(.*))/g)].map((one) => one[1] ?? one[2] ?? '');
  const alerts = rules.match(/- alert: /g) ?? [];
  t.is(expressions.length, alerts.length);
  t.true(alerts.length > 8);
  const dashboard = JSON.parse(readFileSync(join(ROOT, 'ops/grafana/quartermaster.json'), 'utf8')) as {
    panels: { targets: { expr: string }[] }[];
  };
  expressions.push(...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)));
  const { body } = await platform.call<string>('GET', '//metrics');
  const known = new Set(
    [...body.matchAll(/^# TYPE (\S+) (\S+)/gm)].flatMap(([, name = '', type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
    ),
  );
  for (const expression of expressions) {
    const names = metricsIn(expression);
    t.true(names.length > 0, expression);
    for (const name of names) t.true(known.has(name), `${name} in ${expression}`);
  }
});

test('names and help texts of metrics follow the conventions of Prometheus', async (t) => {
  await tenant(platform);
  const { body } = await platform.call<string>('GET', '//metrics');
  const metrics = [...body.matchAll(/^# TYPE (\S+) (\S+)/gm)].map(([, name = '', type = '']) => ({ name, type }));
  t.true(metrics.length > 30);
  for (const { name, type } of metrics) {
    t.is(name.endsWith('_total'), type === 'counter', `${name} is a ${type}`);
    t.notRegex(name, /_(ms|milliseconds|minutes|hours|kb|mb|percent)(_|$)/, 'base units are seconds, bytes and ratios');
    t.regex(body, new RegExp(`^# HELP ${name} \\S`, 'm'));
  }
});

/** Debian's promtool; `.ci/run` installs it. */
const promtool = (input: string) =>
  spawnSync('promtool', ['check', 'metrics'], { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] });

(promtool('').error ? test.skip : test)(
  'promtool finds nothing to say of the metrics (needs promtool: apt-get install prometheus)',
  async (t) => {
    await tenant(platform);
    const { status, stdout, stderr } = promtool((await platform.call<string>('GET', '//metrics')).body);
    t.deepEqual([status, stdout, stderr], [0, '', '']);
  },
);
