/**
 * The drain board for all open pages.
 *
 * Promises: computed once a period however many pages are open, and only after a change; never
 * without a page, or while no page accepts data; a page that is behind gets the newest board when
 * it accepts data again. A defect is passed on, and breaks pages only.
 */
import type { ActorBoard } from '../api/actor-board.ts';
import type { Time } from '../domain/time.ts';
import { type DrainBoard, drainBoard } from '../view/board/drain-board.ts';
import type { FeedReader } from './live-feed.ts';

/** The inputs of the feed. */
export interface HomeFeedOptions {
  readonly board: ActorBoard;
  readonly time: Pick<Time, 'now' | 'schedule'>;
}

/** The drain board is made from all actors: a large one is made less often. */
const PERIOD_MS = 500;
const LARGE_PERIOD_MS = 1500;
const LARGE_CHARS = 40_000;

/** A computed board; its text tells whether it has changed. */
interface Computed {
  readonly home: DrainBoard;
  readonly text: string;
  readonly atMs: number;
}

const periodMs = ({ text }: Computed): number =>
  text.length > LARGE_CHARS ? LARGE_PERIOD_MS : PERIOD_MS;

/** Sends the drain board to each page at once, and whenever it has changed. */
export class HomeFeed {
  readonly #options: HomeFeedOptions;
  /** The text that each open page has. */
  readonly #pages = new Map<FeedReader, string>();
  #newest: Computed | undefined;
  /** An actor has changed since it was computed. */
  #isStale = false;
  #cancel: (() => void) | undefined;
  #unsubscribe: (() => void) | undefined;

  constructor(options: HomeFeedOptions) {
    this.#options = options;
  }

  /** Sends to a page; returns a stop function. */
  readonly open = (page: FeedReader): () => void => {
    this.#send(page, this.#recent());
    this.#unsubscribe ??= this.#options.board.subscribe(() => this.#mark());
    this.#scheduleIfBehind();
    return () => this.#close(page);
  };

  #close(page: FeedReader): void {
    this.#pages.delete(page);
    if (this.#pages.size > 0) return;
    this.#unsubscribe?.();
    this.#cancel?.();
    this.#unsubscribe = undefined;
    this.#cancel = undefined;
    this.#newest = undefined;
  }

  /** The board of this period: a new page costs no other one. */
  #recent(): Computed {
    const newest = this.#newest;
    if (newest === undefined) return this.#compute();
    const ageMs = Math.abs(this.#options.time.now() - newest.atMs);
    return ageMs < periodMs(newest) ? newest : this.#compute();
  }

  #compute(): Computed {
    const { board, time } = this.#options;
    const atMs = time.now();
    const home = drainBoard(board, atMs);
    const computed = { home, text: JSON.stringify(home), atMs };
    this.#newest = computed;
    this.#isStale = false;
    return computed;
  }

  #send(page: FeedReader, { home, text }: Computed): void {
    this.#pages.set(page, text);
    page.send({ type: 'home', nowMs: this.#options.time.now(), home });
  }

  #mark(): void {
    this.#isStale = true;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#newest === undefined) return;
    this.#cancel ??= this.#options.time.schedule(periodMs(this.#newest), () => this.#tick());
  }

  #scheduleIfBehind(): void {
    const isBehind = [...this.#pages.values()].some((text) => text !== this.#newest?.text);
    if (this.#isStale || isBehind) this.#schedule();
  }

  #tick(): void {
    this.#cancel = undefined;
    const accepting = [...this.#pages.keys()].filter((page) => !page.isBusy());
    const newest = this.#isStale && accepting.length > 0 ? this.#compute() : this.#newest;
    if (newest === undefined) return;
    for (const page of accepting) {
      if (this.#pages.get(page) !== newest.text) this.#send(page, newest);
    }
    this.#scheduleIfBehind();
  }
}
