/** The maps that modules widen: `declare module '#core/contract' { interface Apis { devices: ... } }`. */

// biome-ignore lint/suspicious/noEmptyInterface: widened by modules
export interface Apis {}
// biome-ignore lint/suspicious/noEmptyInterface: widened by modules
export interface Jobs {}
// biome-ignore lint/suspicious/noEmptyInterface: widened by slots.ts and by modules
export interface Slots {}
export type JobName = keyof Jobs & string;
export type JobPayload<N extends JobName> = Jobs[N];
