/** Checks that the settings about proxies fit each other: limits and the audit trail go by the caller's address. */
import type { Config } from '#config';
import type { Report } from './report.ts';

const LOCAL = new Set(['127.0.0.1', '::1', 'localhost']);
/** The shortest prefixes of networks that may be proxies. */
const SHORTEST = { v4: 8, v6: 16 };

export async function checkProxies(report: Report, { http }: Config): Promise<void> {
  const fix = 'set TRUST_PROXY_HEADERS, TRUSTED_PROXY_HEADER and TRUSTED_PROXIES as README.md, Behind a proxy, says';
  await report.check('proxies', fix, async () => {
    const { proxies, publicUrl, metricsToken, metricsPort } = http;
    if (!proxies) {
      // This server does not speak TLS: something in front of it does.
      if (publicUrl.startsWith('https:')) {
        throw new Error(
          'PUBLIC_URL is https, so a proxy stands in front, but TRUST_PROXY_HEADERS is off: all callers share its address',
        );
      }
      return 'none; the address of the connection counts';
    }
    const { header, trusted } = proxies;
    if (typeof trusted !== 'number') mustBeNarrow(trusted);
    const metrics =
      metricsToken || metricsPort ? '' : '; /metrics is refused to callers through them, as METRICS_TOKEN is not set';
    if (typeof trusted !== 'number') return `${header} from ${trusted.join(', ')}${metrics}`;
    const open = LOCAL.has(http.host) ? '' : `; only they may reach ${http.host}:${http.port}`;
    return `${header} from ${trusted} in a row${open}${metrics}`;
  });
}

function mustBeNarrow(networks: readonly string[]): void {
  for (const network of networks) {
    const shortest = network.includes(':') ? SHORTEST.v6 : SHORTEST.v4;
    if (Number(network.split('/')[1]) < shortest) {
      throw new Error(`TRUSTED_PROXIES: ${network} is wider than any proxies are; its callers could name any address`);
    }
  }
}
