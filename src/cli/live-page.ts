/** The live page of a role: the board of its actors, and the server that shows it. */
import type { ListenAddress } from '../effects/option-kinds.ts';
import { realTime } from '../effects/real-time.ts';
import { CHARTS } from '../gen/charts.ts';
import { PAGE_HTML, PAGE_SCRIPT, PAGE_STYLE } from '../gen/page.ts';
import { MACHINES } from '../machines/index.ts';
import { type LiveActorBoard, makeActorBoard } from '../observability/actor-board.ts';
import { catalogueInWords } from '../view/catalogue.ts';
import type { ActorBoard } from '../api/actor-board.ts';
import { type InspectionServer, startInspectionServer } from '../web/inspection-server.ts';

/** A board of this process's actors. */
export const liveBoard = (): LiveActorBoard =>
  makeActorBoard({ time: realTime, kinds: new Set(Object.keys(MACHINES)) });

/** Serves a board; `title` is what the page is called. Fails when the address cannot be had. */
export const startLivePage = (
  address: ListenAddress,
  board: ActorBoard,
  title: string,
): Promise<InspectionServer> =>
  startInspectionServer({
    address,
    board,
    time: realTime,
    files: {
      html: PAGE_HTML,
      script: PAGE_SCRIPT,
      style: PAGE_STYLE,
      charts: CHARTS,
      catalogue: JSON.stringify({ title, machines: catalogueInWords(MACHINES) }),
    },
  });
