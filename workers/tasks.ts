/** The tasks of a worker by name: every declared job and subscriber, and the two tasks of the schedules. */
import type { TaskList } from 'graphile-worker';
import {
  type ConcurrencyGate,
  type JobEnvelope,
  jobTask,
  layOutMinute,
  type QueueTask,
  startMissed,
  startScheduled,
  subscriberTask,
  type TaskServices,
} from '#core/jobs';

const MINUTE_MS = 60_000;

/** @param gate limits what runs at once and holds back paused tasks; without it every task starts */
export function taskList(services: TaskServices, gate?: ConcurrencyGate): TaskList {
  const { registry } = services;
  const pool = services.work.database.owner;
  const tasks: TaskList = {
    'core/tick': async () => {
      const now = Date.now();
      await layOutMinute(pool, registry, new Date(Math.floor(now / MINUTE_MS) * MINUTE_MS));
      await startMissed(pool, registry, new Date(now));
    },
    'core/start': async (payload) => startScheduled(pool, registry, (payload as { job: string }).job, new Date()),
  };
  const add = (name: string, task: QueueTask) => {
    tasks[name] = gate ? gated(gate, name, task) : task;
  };
  for (const name of registry.jobs.keys()) add(name, jobTask(services, name));
  for (const name of registry.subscribers.keys()) add(name, subscriberTask(services, name));
  return tasks;
}

function gated(gate: ConcurrencyGate, name: string, task: QueueTask): QueueTask {
  return async (payload, helpers) => {
    const leave = gate.enter(name, (payload as JobEnvelope).orgId);
    try {
      await task(payload, helpers);
    } finally {
      leave();
    }
  };
}
