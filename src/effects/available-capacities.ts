/**
 * Writes AvailableCapacity objects. Promises: every write passes the write budget in class `phase`,
 * is counted, and sends only what changed.
 */
import { Context, Effect, Layer } from 'effect';
import type { Telemetry } from '../api/telemetry.ts';
import { GROUP_PATH } from '../domain/api-group.ts';
import {
  type AvailableCapacityFacts,
  type AvailableCapacityProjection,
  capacityPatch,
  newAvailableCapacity,
  projectAvailableCapacity,
} from '../domain/available-capacity.ts';
import type { WriteOutcome } from '../domain/object-write.ts';
import { KubeApi } from './kube-api.ts';
import { type CountedOutcome, type ObjectRequest, objectWrites } from './object-writes.ts';
import { Writes } from './writes.ts';

/** The API path of AvailableCapacities. */
export const AVAILABLE_CAPACITIES_PATH = `${GROUP_PATH}/availablecapacities`;

/** The name of the object, and all inputs of the decision. */
export interface AvailableCapacityWrite {
  readonly name: string;
  readonly facts: AvailableCapacityFacts;
}

type Act = (
  write: AvailableCapacityWrite,
) => Effect.Effect<WriteOutcome<AvailableCapacityProjection>>;

/** Writes AvailableCapacities. */
export class AvailableCapacities extends Context.Service<AvailableCapacities, {
  readonly create: Act;
  readonly patch: Act;
  readonly remove: Act;
}>()('tidegate/AvailableCapacities') {}

const NOTHING_TO_WRITE: CountedOutcome<AvailableCapacityProjection> = {
  outcome: { _tag: 'Fault', why: 'there was nothing to write' },
  result: 'error',
};

/** AvailableCapacities of a real API server. */
export const availableCapacitiesLayer = (
  { telemetry }: { readonly telemetry: Telemetry },
): Layer.Layer<AvailableCapacities, never, KubeApi | Writes> =>
  Layer.effect(
    AvailableCapacities,
    Effect.gen(function* () {
      const { create, patch, remove } = objectWrites({
        path: AVAILABLE_CAPACITIES_PATH,
        api: yield* KubeApi,
        project: projectAvailableCapacity,
      });
      const writes = yield* Writes;
      const send = (
        { call, outcomeOf }: ObjectRequest<CountedOutcome<AvailableCapacityProjection>>,
      ) => outcomeOf(writes.send('phase', call));
      const counted = (
        op: 'create' | 'spec_update' | 'delete',
        act: Effect.Effect<CountedOutcome<AvailableCapacityProjection>>,
      ) =>
        Effect.map(act, ({ outcome, result }) => {
          telemetry.count('tidegate_available_capacity_writes_total', 1, { op, outcome: result });
          return outcome;
        });
      return {
        create: ({ name, facts }) =>
          counted(
            'create',
            send(create(newAvailableCapacity(name, facts.reported?.spec ?? '{}'), name)),
          ),
        patch: ({ name, facts }) => {
          const body = capacityPatch(facts);
          return counted(
            'spec_update',
            body === undefined ? Effect.succeed(NOTHING_TO_WRITE) : send(patch(name, body)),
          );
        },
        remove: ({ name, facts }) =>
          counted('delete', send(remove(name, facts.current?.uid ?? ''))),
      };
    }),
  );
