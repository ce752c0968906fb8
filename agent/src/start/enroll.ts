/** `agent enroll`: makes this machine known to the server. */
import { readFile } from 'node:fs/promises';
import { apiBase, createClient } from '../link/client.ts';
import { enroll, enrollmentFault } from '../link/enrollment.ts';
import { realMachine } from '../machine.ts';
import { fileState } from '../store/state.ts';
import { DEFAULT_TIMING } from '../timing.ts';
import { UsageError, type Values } from './options.ts';

/** The exit code. Throws UsageError, or a sentence about why the machine was not enrolled. */
export async function enrollHere(stateFile: string, values: Values): Promise<number> {
  const { server, reenroll } = values;
  const key = await given(values, 'key');
  const secret = await given(values, 'secret');
  if (!server || !key) throw new UsageError('"enroll" needs --server and --key-file or --key.');
  const base = new URL(apiBase(server));
  if (base.protocol === 'http:' && !['127.0.0.1', 'localhost', '[::1]'].includes(base.hostname)) {
    console.error(`Warning: tokens and commands travel to ${base.host} unencrypted; use https beyond a trial.`);
  }
  const store = fileState(stateFile);
  const existing = await store.read();
  if (existing && !reenroll) {
    throw new Error(`${stateFile} already holds the device ${existing.deviceId}; add --reenroll to enroll it again.`);
  }
  if (!existing && reenroll) throw new Error(`There is no ${stateFile} to enroll again from.`);
  try {
    const client = createClient(server, DEFAULT_TIMING.request);
    const about = { server, key, secret, deviceRole: values['device-role'], oldToken: existing?.tokens.authToken };
    const state = await enroll(client, realMachine(), about);
    await store.write(state);
    console.log(`Enrolled as device ${state.deviceId}; the state is in ${stateFile}.`);
    return 0;
  } catch (fault) {
    throw new Error(enrollmentFault(fault));
  }
}

/** From a file where one is named, so that it does not stand in the process list. */
async function given(values: Values, name: 'key' | 'secret'): Promise<string | undefined> {
  const file = values[`${name}-file`];
  if (file === undefined) return values[name];
  if (values[name] !== undefined) throw new UsageError(`Give --${name}-file or --${name}, not both.`);
  return (await readFile(file, 'utf8')).trim();
}
