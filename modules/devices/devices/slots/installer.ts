/** The slot `devices.installer`: the module that serves the installer writes the command by which a machine becomes a device. */
import { type Context, defineSlot } from '#core';
import type { OsType } from '../models/device.ts';

export interface DeviceInstaller {
  /** One line for a shell of the operating system; the token is not among the arguments of any process that it starts. */
  command(ctx: Context, osType: OsType, token: string): Promise<string>;
}

declare module '#core/contract' {
  interface Slots {
    'devices.installer': DeviceInstaller;
  }
}

export default defineSlot<DeviceInstaller>({
  summary: 'Writes the command that installs and enrolls an agent',
});
