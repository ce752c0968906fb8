/** Reads server-sent events the way an integrator does. */

export interface SeenEvent {
  id: string;
  data: { id: string; orgId: string | null } & Record<string, unknown>;
}

export class EventReader {
  readonly events: SeenEvent[] = [];
  comments = 0;
  lastId = '';
  ended = false;
  readonly status: number;
  readonly headers: Headers;
  private readonly abort: AbortController;
  private wake: () => void = () => undefined;

  private constructor(response: Response, abort: AbortController) {
    this.status = response.status;
    this.headers = response.headers;
    this.abort = abort;
    void this.read(response).finally(() => {
      this.ended = true;
      this.wake();
    });
  }

  /** @param path below /api/v1 */
  static async open(
    base: string,
    path: string,
    options: { token?: string; apiKey?: string; lastEventId?: string; query?: string },
  ): Promise<EventReader> {
    const abort = new AbortController();
    const { token, apiKey, lastEventId, query = '' } = options;
    const response = await fetch(`${base}/api/v1${path}?${query}`, {
      signal: abort.signal,
      headers: {
        'accept-encoding': 'gzip',
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(apiKey ? { 'x-api-key': apiKey } : {}),
        ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      },
    });
    return new EventReader(response, abort);
  }

  /** Resolves when the condition holds; rejects after 90 seconds, or when the stream ends before. */
  async until(condition: () => boolean): Promise<void> {
    const timeout = AbortSignal.timeout(90_000);
    timeout.addEventListener('abort', () => this.wake());
    while (!condition()) {
      if (timeout.aborted) throw new Error(`still waiting; seen ${this.events.length} events`);
      if (this.ended) throw new Error('the stream ended before');
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  close(): void {
    this.abort.abort();
  }

  private async read(response: Response): Promise<void> {
    let waiting = '';
    const decoder = new TextDecoder();
    try {
      for await (const chunk of response.body ?? []) {
        waiting += decoder.decode(chunk, { stream: true });
        const blocks = waiting.split('\n\n');
        waiting = blocks.pop() ?? '';
        for (const block of blocks) this.take(block.split('\n'));
        this.wake();
      }
    } catch {
      // Closed by us, or cut off.
    }
  }

  private take(lines: string[]): void {
    const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
    if (lines.some((line) => line.startsWith(':'))) this.comments += 1;
    this.lastId = field('id') ?? this.lastId;
    const data = field('data');
    if (data) this.events.push({ id: this.lastId, data: JSON.parse(data) });
  }
}
