/** The names of the objects of actors whose ids are not these names. */
import type { ActorRow } from '../../api/actor-board.ts';
import { textAt } from '../../domain/json.ts';

/**
 * The name of the object of an actor, `namespace/name` for one in a namespace; `undefined` when the
 * id has it. A demand has the UID of its pod in its id, and an UpcomingNode the id of its machine.
 */
export const objectName = (
  { kind }: Pick<ActorRow, 'kind'>,
  context: unknown,
): string | undefined => {
  if (kind === 'upcomingNode') return textAt(context, 'name');
  const name = kind === 'podDemand' ? textAt(context, 'pod', 'name') : undefined;
  return name === undefined ? undefined : `${textAt(context, 'pod', 'namespace') ?? ''}/${name}`;
};
