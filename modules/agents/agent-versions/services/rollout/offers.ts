/** The update offer in the answer to a heartbeat: from memory, or through group commits when something has changed. */
import semver from 'semver';
import type { UpgradeOffers } from '#agent-protocol';
import type { Context } from '#core';
import type { Slots } from '#core/contract';
import type { Updatable } from '../../models/attempt.ts';
import { type Catalog, catalogOf, type Loaded } from '../catalog.ts';
import { DEVICE_NOTICE, type DeviceState, deviceStatesOf, looks, proposals } from './device-states.ts';
import { tellEnd } from './outcomes.ts';
import { decide } from './policies.ts';

type AgentOffers = Slots['agents.offers'];
type OfferRequest = Parameters<AgentOffers['answer']>[1];

const NONE: UpgradeOffers = { upgradeTo: null, watchdogUpgradeTo: null };
const FIELD = { agent: 'upgradeTo', watchdog: 'watchdogUpgradeTo' } as const;
const COMPONENTS: readonly Updatable[] = ['agent', 'watchdog'];

/** Runs no statement for a device that is up to date, after the first heartbeat that this process receives from it. */
export async function answerHeartbeat(ctx: Context, request: OfferRequest): Promise<UpgradeOffers> {
  const catalog = catalogOf(ctx);
  const loaded = await catalog.current();
  if (loaded.empty) return NONE;
  const device = await stateOf(ctx, request);
  if (!device) return NONE;
  for (const component of COMPONENTS) {
    const made = await offer(ctx, catalog, loaded, device, request, component);
    // One program at a time, so that another one is left to repair it.
    if (made) return { ...NONE, [FIELD[component]]: made };
  }
  return NONE;
}

const saidBy = ({ versions }: OfferRequest) =>
  COMPONENTS.flatMap((component) => {
    const version = versions[component];
    return version === null ? [] : [{ component, version }];
  });

/** Reads the state again when the device names other versions, and with each heartbeat while an update is in progress. */
async function stateOf(ctx: Context, request: OfferRequest): Promise<DeviceState | null> {
  const states = deviceStatesOf(ctx);
  const named = saidBy(request);
  const known = states.get(request.deviceId);
  const differs = named.some(({ component, version }) => known?.said[component] !== version);
  if (known && !differs && (known.open === null || known.open.state === 'offered')) return known;
  const { mark } = states;
  const { facts, ended } = await ctx.batch(looks, { deviceId: request.deviceId, said: named });
  for (const attempt of ended) tellEnd(ctx, attempt);
  if (ended.length > 0) ctx.notify(DEVICE_NOTICE, request.deviceId);
  if (!facts) return null;
  const said = { ...known?.said, ...Object.fromEntries(named.map((one) => [one.component, one.version])) };
  const device = { ...facts, said, notBefore: ended.length > 0 ? new Map() : (known?.notBefore ?? new Map()) };
  states.keep(request.deviceId, device, mark);
  return device;
}

async function offer(
  ctx: Context,
  catalog: Catalog,
  loaded: Loaded,
  device: DeviceState,
  request: OfferRequest,
  component: Updatable,
) {
  const { deviceId, orgId } = request;
  const current = request.versions[component];
  if (current === null) return null;
  const policy = await catalog.policyOf(orgId);
  const decision = decide(loaded, policy, { ...device, deviceId, orgId, component, current }, new Date());
  if ('none' in decision) return null;
  const { version, checksum, platform, architecture } = decision.target;
  const { open } = device;
  const asked = `platform=${platform}&arch=${architecture}&component=${component}&agentId=${request.agentId}`;
  const made = {
    ...{ version, url: `/api/v1/agent-versions/${version}/download?${asked}`, sha256: checksum },
    // Without this field an agent refuses a lower version.
    ...(semver.lt(version, current) ? { allowDowngrade: true as const } : {}),
  };
  // The answer with the offer may have been lost, so it is repeated until the agent reports that it has begun.
  if (open?.component === component && open.state === 'offered' && open.version === version) {
    return request.busy ? null : made;
  }
  if ((open && open.state !== 'offered') || request.busy) return null;
  const key = `${component} ${version}`;
  if ((device.notBefore.get(key) ?? 0) > performance.now()) return null;
  const { offered, retryMs } = await ctx.batch(proposals, {
    ...{ deviceId, component, fromVersion: current, toVersion: version },
  });
  device.notBefore.set(key, performance.now() + retryMs);
  if (!offered) return null;
  ctx.notify(DEVICE_NOTICE, deviceId);
  device.open = { component, version, state: 'offered' };
  return made;
}
