/** Loaded before a process whose heap is measured: collects garbage often, so that only what is held counts. */
setInterval(() => globalThis.gc?.(), 500).unref();
