/** The test kit (#test). */

export * from './actors.ts';
export { createTestDatabase, type TestDatabase } from './database.ts';
export { emitNamed } from './emit.ts';
export { EventReader } from './event-reader.ts';
export {
  type Example,
  type ExampleCall,
  type ExampleContext,
  exampleDevice,
  type NamedTest,
  type RowLife,
  shortName,
  uniqueName,
} from './example.ts';
export { startMailServer, type TakenMail } from './mail-server.ts';
export { switchModule } from './modules.ts';
export { joinTestPlatform, startTestPlatform } from './platform.ts';
export { sharedPlatform } from './pool/shared-platform.ts';
export { freePort } from './ports.ts';
export { type Page, Replica, settled } from './replica.ts';
export { openS3Server } from './s3-server.ts';
export { until, within } from './until.ts';
