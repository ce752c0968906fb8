/** The state machine of devices, as a property: any sequence of events takes only the transitions of the table. */
import test from 'ava';
import { startTestPlatform, type Tenant, tenant } from '#test';
import { fc } from '#test/properties';
import { asPlatform, heartbeat, runJob } from './arrange.ts';

const platform = await startTestPlatform();
const place: Tenant = await tenant(platform);
test.after.always(() => platform.stop());
const token = place.partner.token;

/** The facts about a device on which its lifecycle and its derived status depend. */
interface State {
  lifecycle: 'pending' | 'active' | 'quarantined' | 'decommissioned' | 'gone';
  /** A machine has enrolled as this device. */
  filled: boolean;
  online: boolean;
  maintenance: boolean;
  updating: boolean;
  /** Decommissioned over thirty days ago. */
  old: boolean;
}
const BEGIN: State = {
  lifecycle: 'pending',
  filled: false,
  online: false,
  maintenance: false,
  updating: false,
  old: false,
};

interface Subject {
  id: string;
  orgId: string;
  secret: string;
}
interface Event {
  /** The next state, or null when the table has no such transition. */
  next(state: State): State | null;
  /** Whether it was accepted. */
  run(subject: Subject): Promise<boolean>;
}

const left = (state: State): State => ({
  ...state,
  lifecycle: 'decommissioned',
  online: false,
  updating: false,
  old: false,
});
const when = (is: (state: State) => boolean, then: (state: State) => State) => (state: State) =>
  is(state) ? then(state) : null;
const always = (then: (state: State) => State) => then;
const lifecycle =
  (...of: State['lifecycle'][]) =>
  (state: State) =>
    of.includes(state.lifecycle);

const call = async (method: string, path: string, body?: object): Promise<boolean> => {
  const { status } = await platform.call(method, path, { token, ...(body ? { body } : {}) });
  if (status >= 500) throw new Error(`${method} ${path}: ${status}`);
  return status < 300;
};
const post = (what: string, body?: object) => (subject: Subject) =>
  call('POST', `/devices/${subject.id}/${what}`, body);
const run =
  (statement: string, job?: string) =>
  async ({ id }: Subject) => {
    await platform.sql(statement, [id]);
    if (job) await runJob(platform, `devices/${job}`);
    await platform.runJobs();
    return true;
  };

const EVENTS: Record<string, Event> = {
  enroll: {
    next: when(lifecycle('pending'), (state) => ({ ...state, lifecycle: 'active', filled: true, online: true })),
    run: ({ secret }) =>
      asPlatform(platform, async (ctx) => {
        const devices = ctx.use('devices');
        const found = await devices.takeProvision(secret, 'linux');
        if (!found || 'refused' in found) return false;
        const { orgId, siteId, deviceId: pendingDeviceId } = found;
        await devices.enroll({
          orgId,
          siteId,
          pendingDeviceId,
          via: 'provision',
          hostname: 'machine',
          osType: 'linux',
        });
        return true;
      }).catch((error: { code?: string }) => {
        // The device left between the check and the change.
        if (error.code !== 'INVALID_STATE') throw error;
        return false;
      }),
  },
  quarantine: {
    next: when(lifecycle('active'), (state) => ({
      ...state,
      lifecycle: 'quarantined',
      online: false,
      updating: false,
    })),
    run: post('quarantine', { reason: 'test' }),
  },
  approve: {
    next: when(lifecycle('quarantined'), (state) => ({ ...state, lifecycle: 'active' })),
    run: post('approve'),
  },
  deny: { next: when(lifecycle('quarantined'), left), run: post('deny') },
  remove: {
    next: when(lifecycle('pending', 'active', 'quarantined'), left),
    run: ({ id }) => call('DELETE', `/devices/${id}`),
  },
  restore: {
    next: when(
      ({ lifecycle: now, old }) => now === 'decommissioned' && !old,
      (state) => ({ ...state, lifecycle: state.filled ? 'active' : 'pending' }),
    ),
    run: post('restore'),
  },
  purge: {
    next: when(lifecycle('decommissioned'), (state) => ({ ...state, lifecycle: 'gone' })),
    async run({ id }) {
      const names = await platform.sql<{ hostname: string }>('select hostname from devices where id = $1', [id]);
      const accepted = await call('DELETE', `/devices/${id}/permanent?confirm=${names[0]?.hostname ?? 'none'}`);
      await platform.runJobs();
      return accepted;
    },
  },
  grow_old: {
    next: always((state) => (state.lifecycle === 'decommissioned' ? { ...state, old: true } : state)),
    run: run(
      `update devices set decommissioned_at = now() - interval '31 days' where id = $1 and lifecycle = 'decommissioned'`,
    ),
  },
  retention: {
    next: always((state) =>
      state.lifecycle === 'decommissioned' && state.old ? { ...state, lifecycle: 'gone' } : state,
    ),
    run: run('select $1::uuid', 'purge-devices'),
  },
  expire: {
    next: always((state) => (state.lifecycle === 'pending' ? { ...state, lifecycle: 'gone' } : state)),
    run: run(`update devices set created_at = now() - interval '31 days' where id = $1`, 'expire-provisions'),
  },
  heartbeat: {
    next: when(
      ({ lifecycle: now }) => now !== 'gone',
      (state) => (state.lifecycle === 'active' ? { ...state, online: true } : state),
    ),
    run: ({ id, orgId }) =>
      heartbeat(platform, { deviceId: id, orgId }).then(
        () => true,
        () => false,
      ),
  },
  fall_silent: {
    next: always((state) => ({ ...state, online: false })),
    run: run(`update device_state set last_seen_at = now() - interval '1 hour' where device_id = $1`, 'sweep-silent'),
  },
  maintain: {
    next: when(lifecycle('active'), (state) => ({ ...state, maintenance: true })),
    run: post('maintenance', { minutes: 60 }),
  },
  end_maintenance: {
    next: when(
      (state) => state.lifecycle === 'active' && state.maintenance,
      (state) => ({ ...state, maintenance: false }),
    ),
    run: ({ id }) => call('DELETE', `/devices/${id}/maintenance`),
  },
  maintenance_passes: {
    next: always((state) => (state.lifecycle === 'gone' ? state : { ...state, maintenance: false })),
    run: run(
      'update devices set maintenance_until = now() where id = $1 and maintenance_until is not null',
      'sweep-silent',
    ),
  },
  update: {
    next: always((state) => (state.lifecycle === 'active' ? { ...state, updating: true } : state)),
    run: run(
      `update device_state set updating_since = now(), updating_to_version = '9.9' from devices d
       where device_id = $1 and d.id = device_id and d.lifecycle = 'active'`,
    ),
  },
  update_takes_too_long: {
    next: always((state) => ({ ...state, updating: false })),
    run: run(
      `update device_state set updating_since = now() - interval '2 hours' where device_id = $1 and updating_since is not null`,
      'sweep-silent',
    ),
  },
};

const shown = (state: State): string => {
  if (state.lifecycle !== 'active') return state.lifecycle;
  if (state.updating) return 'updating';
  return state.maintenance ? 'maintenance' : state.online ? 'online' : 'offline';
};

async function provision(): Promise<Subject> {
  const { orgId, siteId } = place;
  const body = { orgId, siteId, hostname: 'machine', osType: 'linux', allowDuplicate: true };
  const made = await platform.call<{ deviceId: string; enrollment: { token: string } }>('POST', '/devices/provision', {
    token,
    body,
  });
  return { id: made.body.deviceId, orgId, secret: made.body.enrollment.token };
}
interface Seen {
  lifecycle: string;
  status: string;
  connectivity: string;
}
async function look({ id }: Subject): Promise<Seen> {
  const { status, body } = await platform.call<{ data: Seen }>('GET', `/devices/${id}`, { token });
  if (status === 404) return { lifecycle: 'gone', status: 'gone', connectivity: 'offline' };
  const { lifecycle: now, status: display, connectivity } = body.data;
  return { lifecycle: now, status: display, connectivity };
}
const expected = (state: State): Seen => ({
  lifecycle: state.lifecycle,
  status: shown(state),
  connectivity: state.lifecycle === 'active' && state.online ? 'online' : 'offline',
});

test.serial(
  'random sequences of events take only transitions of the table, and the status is the derived one',
  async (t) => {
    const names = Object.keys(EVENTS);
    const happened = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...names), { minLength: 4, maxLength: 14 }), async (sequence) => {
        const subject = await provision();
        let state = BEGIN;
        // Most sequences begin with an enrollment, because few transitions are possible before.
        for (const name of sequence[0] === 'remove' ? sequence : ['enroll', ...sequence]) {
          const event = EVENTS[name] as Event;
          const next = event.next(state);
          const accepted = await event.run(subject);
          if (accepted !== (next !== null))
            throw new Error(`${name} in ${JSON.stringify(state)}: accepted ${accepted}`);
          if (next && next !== state) happened.add(`${state.lifecycle} ${name}`);
          state = next ?? state;
          const seen = await look(subject);
          if (JSON.stringify(seen) !== JSON.stringify(expected(state))) {
            throw new Error(`after ${name}: ${JSON.stringify(seen)} instead of ${JSON.stringify(expected(state))}`);
          }
          if (state.lifecycle === 'gone') break;
        }
      }),
      { numRuns: 40, endOnFailure: true },
    );
    t.true(happened.size >= 12, [...happened].join(', '));
  },
);

test.serial('two concurrent transitions end as if one had followed the other', async (t) => {
  const steps = ['quarantine', 'approve', 'deny', 'remove', 'restore', 'purge', 'enroll'];
  const starts: string[][] = [[], ['enroll'], ['enroll', 'quarantine'], ['enroll', 'remove']];
  for (const start of starts) {
    for (const [index, a] of steps.entries()) {
      for (const b of steps.slice(index)) {
        const subject = await provision();
        let state = BEGIN;
        for (const name of start) {
          state = EVENTS[name]?.next(state) ?? state;
          await EVENTS[name]?.run(subject);
        }
        const [first, second] = await Promise.all([a, b].map((name) => (EVENTS[name] as Event).run(subject)));
        const order = (one: string, two: string) => {
          const middle = EVENTS[one]?.next(state) ?? null;
          const end = EVENTS[two]?.next(middle ?? state) ?? null;
          return { oks: [middle !== null, end !== null], lifecycle: (end ?? middle ?? state).lifecycle };
        };
        const [ab, ba] = [order(a, b), order(b, a)];
        const found = { oks: [first, second], lifecycle: (await look(subject)).lifecycle };
        const fits = [ab, { ...ba, oks: ba.oks.toReversed() }].map((one) => JSON.stringify(one));
        // A purge is requested first and done later: requested twice, it is accepted twice.
        const twice = a === 'purge' && b === 'purge' && found.lifecycle !== 'decommissioned';
        t.true(twice || fits.includes(JSON.stringify(found)), `${start} then ${a} and ${b}: ${JSON.stringify(found)}`);
      }
    }
  }
});
