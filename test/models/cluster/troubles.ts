/** Answers that statecharts of one write share: what fails on the way, and what is refused. */
import type { Mover, Place } from './stage.ts';

type Way = Pick<Place, 'site' | 'line' | 'number'>;

const AWAY = { kind: 'refuse', status: 503, message: 'try again' } as const;

/** After an address that nobody listens at, writes pause: not many ways have the time. */
const AWAY_EVERY = 16;

/** Loses the next request, in one of three manners; nothing is done. */
export const loseRequest = async ({ line, number }: Way): Promise<Mover> => {
  if (number % AWAY_EVERY === 0) await line.leave();
  else line.order(number % 2 === 0 ? { kind: 'cut', done: false } : AWAY);
  return 'line';
};

/** Has the next request refused for good: as somebody else's, where the server knows users. */
export const refuseRequest = ({ site, line }: Way): Mover => {
  if (site.strangerToken === '') {
    line.order({ kind: 'refuse', status: 403, message: 'User "x" cannot do that' });
    return 'line';
  }
  line.order({ kind: 'disguise', authorization: `Bearer ${site.strangerToken}` });
  return 'server';
};
