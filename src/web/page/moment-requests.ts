/**
 * The moments of the past that the page asks its process for.
 *
 * Promises: one request at a time, and always for the newest moment, so that dragging never queues;
 * a request that failed, also in the middle of its answer, is made again after a pause while the
 * page is still at its moment.
 */
import type { MomentQuery, PastMoment } from '../history-feed.ts';
import { pageSchedule } from './event-stream.ts';

/** What is used of `fetch`. */
type Fetch = (address: string) => Promise<Pick<Response, 'ok' | 'json'>>;

/** The page that the moments are for. */
export interface MomentPage {
  /** The wanted moment; undefined while the page is live. */
  readonly cursorMs: () => number | undefined;
  /** The id of the selected actor; empty without one. */
  readonly actorId: () => string;
  /** Takes a moment over; `isLastStep` after a step with no newer wish. */
  readonly show: (moment: PastMoment, isLastStep: boolean) => void;
  readonly fetch?: Fetch;
  /** As `Time.schedule`. */
  readonly schedule?: (delayMs: number, run: () => void) => () => void;
}

const AGAIN_MS = 1000;

/** Asks for moments. */
export class MomentRequests {
  readonly #page: MomentPage;
  /** The moment to show next, and the steps from there that are still to be made. */
  #wantedMs: number | undefined;
  #stepsLeft = 0;
  #isAsking = false;

  constructor(page: MomentPage) {
    this.#page = page;
  }

  /** Asks for a moment instead of everything that was asked before. */
  goTo(atMs: number): void {
    this.#wantedMs = atMs;
    this.#stepsLeft = 0;
    void this.#askOn();
  }

  /** Asks for the next or the last change as well. */
  step(direction: 1 | -1): void {
    this.#stepsLeft += direction;
    void this.#askOn();
  }

  /** Asks for nothing more. */
  clear(): void {
    this.#wantedMs = undefined;
    this.#stepsLeft = 0;
  }

  async #askOn(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      for (let query = this.#next(); query !== undefined; query = this.#next()) {
        const moment = await this.#momentOf(query);
        if (moment === undefined) await this.#putBack(query);
        else if (this.#page.cursorMs() !== undefined) {
          this.#page.show(moment, query.step !== 0 && this.#wantedMs === undefined);
        }
      }
    } finally {
      this.#isAsking = false;
    }
  }

  /** The next request; undefined when everything was asked for. */
  #next(): MomentQuery | undefined {
    const atMs = this.#wantedMs ?? this.#page.cursorMs();
    const isStep = this.#wantedMs === undefined && this.#stepsLeft !== 0;
    if (atMs === undefined || (this.#wantedMs === undefined && !isStep)) return undefined;
    const step = isStep ? (this.#stepsLeft > 0 ? 1 : -1) : 0;
    this.#stepsLeft -= step;
    this.#wantedMs = undefined;
    return { atMs, step, actorId: this.#page.actorId() };
  }

  async #momentOf({ atMs, step, actorId }: MomentQuery): Promise<PastMoment | undefined> {
    const { fetch: fetchMoment = fetch } = this.#page;
    const asked = new URLSearchParams({ at: String(atMs), step: String(step), actor: actorId });
    try {
      const answer = await fetchMoment(`/past?${asked}`);
      if (answer.ok) return await answer.json();
    } catch {
      // The connection is lost: the page shows that.
    }
    return undefined;
  }

  /** Asks again after a pause, unless something newer is asked for or the page has moved on. */
  async #putBack({ atMs, step }: MomentQuery): Promise<void> {
    if (this.#page.cursorMs() === atMs && this.#wantedMs === undefined) {
      if (step === 0) this.#wantedMs = atMs;
      else this.#stepsLeft += step;
    }
    const { schedule = pageSchedule } = this.#page;
    await new Promise<void>((resolve) => void schedule(AGAIN_MS, resolve));
  }
}
