/** The least a request costs: GET /health against a bare node:http server in a process of its own. */
import autocannon from 'autocannon';
import { startProcess } from '../ground.ts';
import { inTurns, type Scenario } from '../scenario.ts';

const rate = async (url: string, duration: number) =>
  (await autocannon({ url, connections: 32, duration })).requests.average;

export const scenario: Scenario = {
  title: 'GET /health, requests a second at 32 connections, against bare node:http',
  async run(ground) {
    const url = `${await ground.api()}/health`;
    const { child, match } = await startProcess('test/bench/bare-http.ts', {}, /listening (\d+)/);
    const figures = await inTurns(
      3,
      () => rate(url, ground.seconds),
      () => rate(`http://127.0.0.1:${match[1]}/health`, ground.seconds),
    );
    child.kill();
    return figures;
  },
};
