/** The same list by API key and by token: requests a second, and how often each asks the database. */
import { setTimeout as pause } from 'node:timers/promises';
import { apiKey } from '#test';
import { preparedGet, rawLoad } from '../raw-load.ts';
import { openWire } from '../round-trips.ts';
import { inTurns, rounded, type Scenario } from '../scenario.ts';

const LANES = 16;
const COUNTED = 500;

export const scenario: Scenario = {
  title: `GET /orgs/sites in ${LANES} lanes, requests a second by API key, against the same by access token`,
  async run(ground) {
    const { orgId, orgAdmin } = await ground.tenant();
    const at = { orgId, scopes: ['sites:read'], createdBy: orgAdmin.id, rateLimit: 100_000 };
    const path = '/api/v1/orgs/sites';
    const byToken = preparedGet(path, { authorization: `Bearer ${orgAdmin.token}` });
    // A key has a hundred thousand requests an hour at most, so each lane and turn takes its own.
    const byKey = async () => preparedGet(path, { 'x-api-key': await apiKey(ground, at) });
    const rate = async (base: string, lanes: Buffer[], seconds: number) => {
      const result = await rawLoad(
        base,
        lanes.map((request) => [request]),
        seconds,
      );
      if (result.failed > 0) throw new Error(`${result.failed} of ${result.total} failed`);
      return result.total / result.seconds;
    };

    const wire = await openWire(ground.databaseUrl);
    const counted = await ground.startApi({ DATABASE_URL: wire.url });
    /** Of one request after another, so that uses of a key find no others to be written with: the dearest case. */
    const roundTrips = async (request: Buffer) => {
      await rawLoad(counted.base, [Array(50).fill(request)], 'once');
      await pause(200);
      const before = wire.count();
      await rawLoad(counted.base, [Array(COUNTED).fill(request)], 'once');
      await pause(200);
      return (wire.count() - before) / COUNTED;
    };
    const trips = { token: await roundTrips(byToken), key: await roundTrips(await byKey()) };
    await counted.stop();
    await wire.close();

    const base = await ground.api();
    const keys = () => Promise.all(Array.from({ length: LANES }, byKey));
    const tokens = Array<Buffer>(LANES).fill(byToken);
    await rate(base, [...tokens, ...(await keys())], 1);
    const figures = await inTurns(
      5,
      async () => rate(base, await keys(), ground.seconds / 2),
      () => rate(base, tokens, ground.seconds / 2),
    );
    return {
      'by key': figures.ours,
      'by token': figures.bare,
      ratio: figures.ratio,
      'round trips by key': rounded(trips.key),
      'round trips by token': rounded(trips.token),
      'more by key': rounded(trips.key - trips.token),
    };
  },
};
