/**
 * A stream of server-sent events that is opened again also when the browser gives it up, or does
 * not see that it is lost.
 *
 * Promises: at most one EventSource at a time, always with the same listeners; none once it is
 * closed. A browser reconnects a stream that breaks off, but any status other than 200 ends an
 * EventSource for good (HTML standard, section 9.2.3), and one 502 of an ingress suffices while the
 * process restarts. A process that is stopped, or a lost node behind a tunnel, leaves it open.
 */

/** What a stream needs of an EventSource. */
interface Source {
  readonly readyState: number;
  readonly addEventListener: (type: string, listener: (event: MessageEvent) => void) => void;
  readonly close: () => void;
}

/** How sources are opened, and how time passes. */
interface StreamEnvironment {
  readonly open: (address: string) => Source;
  /** As `Time.schedule`. */
  readonly schedule: (delayMs: number, run: () => void) => () => void;
}

/** `EventSource.CLOSED`: the browser has given it up. */
const CLOSED = 2;

/** About as long as browsers wait before they reconnect. */
const REOPENING_MS = 3000;

/** The clock of the page, as `Time.schedule`; returns a cancel function. */
export const pageSchedule = (delayMs: number, run: () => void): () => void => {
  const timer = setTimeout(run, delayMs);
  return () => clearTimeout(timer);
};

const BROWSER: StreamEnvironment = {
  open: (address) => new EventSource(address),
  schedule: pageSchedule,
};

/** The server sends something each second. */
const SILENT_MS = 10_000;
/** The first message has all actors, which takes time through a slow tunnel. */
const OPENING_MS = 60_000;

/** Opens a stream; returns a close function. A listener of `error` is called at each loss. */
export const openEventStream = (
  address: string,
  listeners: Readonly<Record<string, (event: MessageEvent) => void>>,
  { open, schedule }: StreamEnvironment = BROWSER,
): () => void => {
  let stop = (): void => {};
  const begin = (): void => {
    const source = open(address);
    let stopWatch = (): void => {};
    const close = (): void => {
      stopWatch();
      source.close();
    };
    const expectMessage = (withinMs: number): void => {
      stopWatch();
      stopWatch = schedule(withinMs, () => {
        close();
        listeners['error']?.(new MessageEvent('error'));
        begin();
      });
    };
    for (const [type, listener] of Object.entries(listeners)) {
      source.addEventListener(type, listener);
    }
    for (const type of new Set([...Object.keys(listeners), 'tick'])) {
      if (type !== 'error') source.addEventListener(type, () => expectMessage(SILENT_MS));
    }
    source.addEventListener('error', () => {
      // Neither a second error of this source nor one after the end opens another.
      if (stop !== close) return;
      if (source.readyState !== CLOSED) return expectMessage(OPENING_MS);
      stopWatch();
      stop = schedule(REOPENING_MS, begin);
    });
    stop = close;
    expectMessage(OPENING_MS);
  };
  begin();
  return () => {
    stop();
    stop = () => {};
  };
};
