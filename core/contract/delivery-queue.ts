/** The declaration of a delivery queue: what a message is, and how it is sent. core/delivery does the rest. */
import type { Config } from '#config';
import type { Context } from '../context/context.ts';
import type { StartServices } from './start-services.ts';

/** What core/delivery knows of a message that this process has claimed; the queue's own columns come on top. */
export interface ClaimedMessage {
  id: string;
  /** Names the claim. A result is written only while the queue still holds this lease. */
  lease: string;
  /** The first column of the partition, as text. */
  receiver: string;
  /** Attempts that ended before this one. */
  attempts: number;
  /** Replaces the number of attempts of the queue. */
  maxAttempts?: number;
  /** The receiver's host, and whether connections to it failed lately; only where the queue declares a host. */
  host?: string;
  hostFails?: boolean;
}

/** What one attempt to send a message came to. */
export interface Outcome<D extends object = object> {
  /**
   * `delivered`; `failed`: tried again while attempts are left; `rejected`: not tried again; `released`: nothing was tried, so
   * no attempt is counted.
   */
  result: 'delivered' | 'failed' | 'rejected' | 'released';
  /** Why it was not delivered, for people. */
  error?: string | null;
  /** Seconds that the receiver asks to wait; the queue's own delay applies where it is longer. */
  retryAfter?: number | null;
  /** Seconds to the next attempt, in place of the queue's own delay. */
  retryIn?: number | null;
  /** For the circuit breaker: whether a connection to the host was made. Absent where the attempt does not tell. */
  connected?: boolean | null;
  /** The fields that `record.fields` names. */
  details?: D;
}

/** An attempt that has ended, and what follows from it. */
export interface DeliveryResult<M extends object = object, D extends object = object> {
  message: M & ClaimedMessage;
  status: 'delivered' | 'retrying' | 'failed' | 'released';
  /** Until the next attempt; null when there is none. */
  seconds: number | null;
  outcome: Outcome<D>;
}

/** What `prepare` makes of claimed messages. A message that it names nowhere leaves the queue. */
export interface PreparedMessages<M extends object> {
  send: readonly (M & ClaimedMessage)[];
  /** Messages that wait until a time without an attempt being counted. */
  postponed?: readonly { id: string; until: Date }[];
}

/**
 * A delivery queue. SQL fragments name the queue's row `q`, the receiver's row `r` and the partition `lane`; `core/delivery`
 * puts them into its own statements, which run on the platform's role.
 *
 * @typeParam M what `message.columns` selects
 * @typeParam D what `record.fields` names
 * @typeParam P what `prepare` makes of M; M without it
 */
export interface DeliveryQueue<M extends object = object, D extends object = object, P extends object = M> {
  /** Unique, in kebab-case. Names the hint `<name>.due`, the statements and the log lines. */
  name: string;
  /** The table, made by `call make_delivery_queue('<table>', '<column>', …)`. Its key `id` is the id of the message. */
  table: string;
  /** The columns of a partition, as `make_delivery_queue` got them. The first is the receiver. */
  partition: readonly [string, ...string[]];
  limits: {
    /** Attempts at a time for one partition, over all processes. */
    perPartition: number;
    /** Attempts at a time in one process. */
    perProcess(config: Config): number;
    /** Longer than an attempt takes and its result waits to be written. */
    leaseSeconds: number;
    /** How often the queue is read without a hint; 1 when absent. */
    pollSeconds?: number;
  };
  /** Seconds to wait after the first failed attempt, the second, and so on; one attempt more than there are delays. */
  retryDelays: readonly number[];
  receiver?: {
    /** The table of receivers; its `id` is the first column of the partition. */
    table: string;
    /** SQL: whether messages may be sent to the receiver at all. */
    open: string;
    /** SQL: the receiver's host. With it a circuit breaker pauses hosts whose connections fail. */
    host?: string;
  };
  /** SQL: whether this message may be sent now. */
  ready?: string;
  /**
   * Columns with the organization or partner of a message; `org_id` when absent. While the queue's module is off for one of
   * them, the message is paused: it is not sent, and no attempt is counted.
   */
  tenants?: readonly [string, ...string[]];
  /** Hours since its creation after which a paused message is given up; 24 when absent. */
  maxPausedHours?: number;
  /** SQL: what giving up paused messages changes besides the queue: a step of a `with`, with a leading comma, that reads `expired` (`id`). */
  onExpired?: string;
  message: {
    /** SQL: the selected columns that make up M. */
    columns: string;
    /** SQL: what is joined to `q`, and to `r` where there is a receiver. */
    from?: string;
  };
  /** In the transaction of the claim: decides which messages are sent, and completes them. */
  prepare?(ctx: Context, messages: readonly (M & ClaimedMessage)[]): Promise<PreparedMessages<P>>;
  /**
   * One attempt, with no transaction open. A rejection counts as a failure of ours: it is logged and tried again.
   * @param signal aborts when the process stops and does not wait for the attempt any longer
   */
  send(start: StartServices, message: P & ClaimedMessage, signal: AbortSignal): Promise<Outcome<D>>;
  /** What results change besides the queue, in the same statement. */
  record?: {
    /** SQL: names and types of D's fields, quoted where they have capitals. */
    fields: string;
    /** Columns of the queue that `held` carries besides its own. */
    carries?: readonly string[];
    /**
     * SQL: further steps of the `with`, each with a leading comma. They read `held`: `id`, `attempts` before this one, `status`,
     * `seconds`, `error`, and the fields.
     */
    steps?: string;
    /** SQL: the last statement. Its rows go to `conclude`. */
    last: string;
  };
  /** In the transaction of the results: what follows for receivers. */
  conclude?(ctx: Context, rows: readonly Record<string, unknown>[]): Promise<void>;
  /** After the results are committed; the queue does not wait for it. */
  afterResults?(start: StartServices, results: readonly DeliveryResult<P, D>[]): Promise<void>;
  /** The table that keeps what became of messages, for figures and retention. */
  log?: {
    table: string;
    /** SQL: the rows that ended, and those that ended without success. */
    ended: string;
    failed: string;
    retentionDays: number;
  };
}

// biome-ignore lint/suspicious/noExplicitAny: a registry holds queues of every message type
export type AnyDeliveryQueue = DeliveryQueue<any, any, any>;
export const defineDelivery = <M extends object, D extends object = object, P extends object = M>(
  queue: DeliveryQueue<M, D, P>,
): AnyDeliveryQueue => queue;
