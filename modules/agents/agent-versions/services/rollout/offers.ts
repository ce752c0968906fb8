/** What a heartbeat is offered: from memory while nothing changes, through shared group commits when something does. */
import semver from 'semver';
import type { Context } from '#core';
import type { Slots } from '#core/contract';
import type { Updatable } from '../../models/attempt.ts';
import { type Catalog, catalogOf, type Loaded } from '../catalog.ts';
import { tellEnd } from './outcomes.ts';
import { decide } from './policies.ts';
import { DEVICE_NOTICE, looks, proposals, type Standing, standingsOf } from './standings.ts';

type AgentOffers = Slots['agents.offers'];
type HeardBeat = Parameters<AgentOffers['answer']>[1];
type UpgradeOffers = Awaited<ReturnType<AgentOffers['answer']>>;

const NONE: UpgradeOffers = { upgradeTo: null, helperUpgradeTo: null, watchdogUpgradeTo: null };
const FIELD = { agent: 'upgradeTo', helper: 'helperUpgradeTo', watchdog: 'watchdogUpgradeTo' } as const;
const COMPONENTS: readonly Updatable[] = ['agent', 'helper', 'watchdog'];

/** No statement for a device that runs what it should, after the first beat that this process hears of it. */
export async function answerBeat(ctx: Context, beat: HeardBeat): Promise<UpgradeOffers> {
  const catalog = catalogOf(ctx);
  const loaded = await catalog.current();
  if (loaded.empty) return NONE;
  const standing = await standingOf(ctx, beat);
  if (!standing) return NONE;
  for (const component of COMPONENTS) {
    const made = await offer(ctx, catalog, loaded, standing, beat, component);
    // One program at a time, so that one is left to repair the other.
    if (made) return { ...NONE, [FIELD[component]]: made };
  }
  return NONE;
}

const saidBy = ({ versions }: HeardBeat) =>
  COMPONENTS.flatMap((component) => {
    const version = versions[component];
    return version === null ? [] : [{ component, version }];
  });

/** Read again when the device names other versions, and with each beat while an update is under way. */
async function standingOf(ctx: Context, beat: HeardBeat): Promise<Standing | null> {
  const standings = standingsOf(ctx);
  const named = saidBy(beat);
  const known = standings.get(beat.deviceId);
  const differs = named.some(({ component, version }) => known?.said[component] !== version);
  if (known && !differs && (known.open === null || known.open.state === 'offered')) return known;
  const { mark } = standings;
  const { facts, ended } = await ctx.batch(looks, { deviceId: beat.deviceId, said: named });
  for (const attempt of ended) tellEnd(ctx, attempt);
  if (ended.length > 0) ctx.notify(DEVICE_NOTICE, beat.deviceId);
  if (!facts) return null;
  const said = { ...known?.said, ...Object.fromEntries(named.map((one) => [one.component, one.version])) };
  const standing = { ...facts, said, notBefore: ended.length > 0 ? new Map() : (known?.notBefore ?? new Map()) };
  standings.keep(beat.deviceId, standing, mark);
  return standing;
}

async function offer(
  ctx: Context,
  catalog: Catalog,
  loaded: Loaded,
  standing: Standing,
  beat: HeardBeat,
  component: Updatable,
) {
  const { deviceId, orgId } = beat;
  const current = beat.versions[component];
  if (current === null) return null;
  const policy = await catalog.policyOf(orgId);
  const decision = decide(loaded, policy, { ...standing, deviceId, orgId, component, current }, new Date());
  if ('none' in decision) return null;
  const { version, checksum, platform, architecture } = decision.target;
  const { open } = standing;
  const asked = `platform=${platform}&arch=${architecture}&component=${component}&agentId=${beat.agentId}`;
  const made = {
    ...{ version, url: `/api/v1/agent-versions/${version}/download?${asked}`, sha256: checksum },
    // An agent takes no lower version unless it is told to.
    ...(semver.lt(version, current) ? { allowDowngrade: true as const } : {}),
  };
  // The answer with the offer may have been lost: it is repeated until the agent says that it has begun.
  if (open?.component === component && open.state === 'offered' && open.version === version) {
    return beat.busy ? null : made;
  }
  if ((open && open.state !== 'offered') || beat.busy) return null;
  const key = `${component} ${version}`;
  if ((standing.notBefore.get(key) ?? 0) > performance.now()) return null;
  const { offered, againMs } = await ctx.batch(proposals, {
    ...{ deviceId, component, fromVersion: current, toVersion: version },
  });
  standing.notBefore.set(key, performance.now() + againMs);
  if (!offered) return null;
  ctx.notify(DEVICE_NOTICE, deviceId);
  standing.open = { component, version, state: 'offered' };
  return made;
}
