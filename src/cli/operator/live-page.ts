/** The live page of a process: the board of its actors, and its server. */
import type { ListenAddress } from '../../effects/option-kinds.ts';
import { realTime } from '../../effects/real-time.ts';
import { KINDS } from './machine-levels.ts';
import { CHARTS } from '../../gen/charts.ts';
import { PAGE_HTML, PAGE_SCRIPT, PAGE_STYLE } from '../../gen/page.ts';
import { MACHINES } from '../../machines/index.ts';
import { makeActorBoard } from '../../observability/actor-board.ts';
import {
  type HistoricalBoard,
  LIVE_HISTORY,
  REPLAY_HISTORY,
  withHistory,
} from '../../observability/actor-history.ts';
import { catalogueText } from '../../view/catalogue.ts';
import type { ActorBoard, ActorDetail } from '../../api/actor-board.ts';
import {
  type DelayedMachine,
  type PendingDelay,
  pendingDelays,
} from '../../view/pending-delays.ts';
import type { Time } from '../../domain/time.ts';
import type { PageAccess } from '../../web/page-access.ts';
import { type InspectionServer, startInspectionServer } from '../../web/inspection-server.ts';

/** A board of this process's actors, and their last minutes. */
export const liveBoard = (time: Pick<Time, 'now'>): HistoricalBoard =>
  withHistory(makeActorBoard({ time, kinds: KINDS }), time, LIVE_HISTORY);

/** A board of a recording, by its clock, and its past. */
export const replayBoard = (time: Pick<Time, 'now'>): HistoricalBoard =>
  withHistory(makeActorBoard({ time, kinds: KINDS }), time, REPLAY_HISTORY);

/** The content of a page. */
export interface LivePageOptions {
  readonly address: ListenAddress;
  readonly board: ActorBoard & Partial<Pick<HistoricalBoard, 'history'>>;
  readonly title: string;
  /** Further names of the page, and its token; none by default. */
  readonly access?: Omit<PageAccess, 'host'>;
  /** The clock for ages and deadlines; a recording has its own. */
  readonly now?: () => number;
  /** Called when a browser opens the page, with the number of open pages. */
  readonly onOpened?: (pages: number) => void;
  /** Called when rendering fails by a defect. */
  readonly onDefect?: (cause: unknown) => void;
}

const BY_NAME: ReadonlyMap<string, DelayedMachine> = new Map(Object.entries(MACHINES));

const delaysOf = (detail: ActorDetail): readonly PendingDelay[] => {
  const machine = BY_NAME.get(detail.row.kind);
  return machine === undefined ? [] : pendingDelays(machine, detail);
};

const OPEN_ACCESS = { names: [], token: undefined };

/** Serves a board. Throws when the address is not available. */
export const startLivePage = (
  { address, board, title, access = OPEN_ACCESS, now = realTime.now, ...listeners }:
    LivePageOptions,
): Promise<InspectionServer> =>
  startInspectionServer({
    ...listeners,
    address,
    access,
    board,
    delaysOf,
    history: board.history,
    title,
    time: { now, schedule: realTime.schedule },
    files: {
      html: PAGE_HTML,
      script: PAGE_SCRIPT,
      style: PAGE_STYLE,
      charts: CHARTS,
      catalogue: JSON.stringify({ title, machines: catalogueText(MACHINES) }),
    },
  });
