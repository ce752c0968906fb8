/** What test files, the pool and its platform processes say to each other: one JSON object a line, or a message. */

/** What a test file asks of the platform that it has leased. `end` gives it back, and answers what was wrong. */
export type Method = 'runJobs' | 'settle' | 'end';
export interface Request {
  id: number;
  method: Method;
}
export interface Answer {
  id: number;
  /** Of `end`: what was answered or told otherwise than the API document says. */
  faults?: string[];
  error?: string;
}

/** The first line of a test file: the variables that its platform runs with. */
export interface LeaseRequest {
  env: Record<string, string>;
}
/** The first line back. */
export interface Lease {
  url: string;
  databaseUrl: string;
  dataDir: string;
  jwtSecret: string;
  enrollmentPepper: string;
}
export interface LeaseFault {
  error: string;
}

/** What a platform process says when it has started. */
export interface Ready {
  lease: Lease;
}
