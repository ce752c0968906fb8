/**
 * Properties, by fast-check: the same inputs in every run, so that a change is what makes one fail. PROPERTY_SEED, any
 * whole number, tries others.
 */
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? 20_261) });

export { fc };
