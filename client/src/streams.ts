/** Server-sent events as an endless iteration that goes on behind the last event when the connection ends. */
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { pause } from './retries.ts';

export interface StreamEvent {
  id: string | undefined;
  /** `message` where the server names none. */
  event: string;
  data: unknown;
}
/** Opens the stream behind this event; fails for good by throwing. */
export type Open = (lastEventId: string | undefined) => Promise<ReadableStream<Uint8Array>>;

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/**
 * Ends when the signal aborts; throws what `open` throws if it is `final`, and tries again for as long as it is not.
 * @param pauseMs before the next connection, so that a server that hangs up at once is not asked without a pause
 */
export async function* follow(
  open: Open,
  from: string | undefined,
  { signal, final, pauseMs }: { signal: AbortSignal; final(fault: unknown): boolean; pauseMs: number },
): AsyncGenerator<StreamEvent, void> {
  let last = from;
  for (; !signal.aborted; await pause(pauseMs * Math.random(), signal).catch(() => undefined)) {
    const bytes = await open(last).catch((fault) => {
      if (!signal.aborted && final(fault)) throw fault;
    });
    if (!bytes) continue;
    const reader = bytes
      .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
      .pipeThrough(new EventSourceParserStream())
      .getReader();
    try {
      for (;;) {
        // A connection that breaks is like one that ends: the next one goes on behind the last event.
        const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }) as const);
        if (done || !value) break;
        last = value.id ?? last;
        yield { id: value.id, event: value.event ?? 'message', data: parsed(value.data) };
      }
    } finally {
      await reader.cancel().catch(() => undefined);
    }
  }
}
