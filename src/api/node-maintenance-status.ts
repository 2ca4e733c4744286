/** The status of a NodeMaintenance, as an Effect schema. Only its controller writes it. */
import { Schema } from 'effect';
import { NODE_MAINTENANCE_LIMITS } from '../domain/node-maintenance/maintenance-limits.ts';
import { NODE_STATES } from '../domain/node-maintenance/observed-maintenance.ts';
import { POD_TYPES } from '../domain/node-maintenance/typed-pods.ts';
import { FINDING_REASONS } from '../domain/node-maintenance/preview.ts';
import { STAGES } from '../domain/node-maintenance/stage.ts';
import { atomic, ConditionsField, int32Field, mapBy, TimestampField } from './fields.ts';
import { ReportedPodSelectorField } from './node-maintenance-selectors.ts';

const LIMITS = NODE_MAINTENANCE_LIMITS;

const count = (description: string) => int32Field(0).annotate({ description });

const optionalCount = (description: string) => Schema.optionalKey(count(description));

const optionalText = (max: number, description: string) =>
  Schema.optionalKey(Schema.String.check(Schema.isMaxLength(max)).annotate({ description }));

const StageStatusField = Schema.Struct({
  name: Schema.Literals(STAGES).annotate({ description: 'Name of the stage.' }),
  startTimestamp: TimestampField.annotate({ description: 'When its work started.' }),
});

const entryFields = {
  podSelector: Schema.optionalKey(
    ReportedPodSelectorField.annotate({ description: 'Only pods with these labels.' }),
  ),
  podPriority: int32Field().annotate({
    description: 'Pods of this priority and below.',
  }),
  podType: Schema.Literals(POD_TYPES).annotate({ description: 'Pods of this type.' }),
};

const NodeReferenceField = Schema.Struct({
  name: Schema.String.check(Schema.isMaxLength(LIMITS.textCharacters)).annotate({
    description: 'Name of the node.',
  }),
});

const YieldsToField = Schema.Struct({
  owner: Schema.String.check(Schema.isMaxLength(LIMITS.textCharacters)).annotate({
    description: 'Owner of its cordon, as in the annotation of the node: `maintenance-` and ' +
      'twelve digits of the UID, or `reclaim`.',
  }),
  node: Schema.String.check(Schema.isMaxLength(LIMITS.textCharacters)).annotate({
    description: 'Name of the node where it waits.',
  }),
});

const NodeStatusField = Schema.Struct({
  nodeRef: NodeReferenceField.annotate({ description: 'The node.' }),
  state: Schema.Literals(NODE_STATES).annotate({
    description: 'Whether the node waits for its turn, is admitted, yields to another ' +
      'maintenance, or is released.',
  }),
  wave: optionalCount('Nodes that were admitted together have one number.'),
  bootID: optionalText(LIMITS.textCharacters, 'Boot ID of the node when it was drained.'),
  drainTargets: Schema.optionalKey(
    Schema.Array(Schema.Struct(entryFields)).check(Schema.isMaxLength(LIMITS.drainTargets))
      .annotate({
        ...atomic,
        description: 'Pods that must leave now. The same for all maintenances of the node; it ' +
          'only grows.',
      }),
  ),
  drainMessage: optionalText(LIMITS.messageCharacters, 'What the drain of the node waits for.'),
  podsPendingEvacuation: optionalCount(
    'Pods that must leave and have no EvictionRequest of this ' +
      'maintenance yet.',
  ),
  podsEvacuating: optionalCount('Pods with an EvictionRequest of this maintenance.'),
  yieldsTo: Schema.optionalKey(
    YieldsToField.annotate({ description: 'The drain to which the node yields.' }),
  ),
});

const WaveField = Schema.Struct({
  number: count('Number of the wave.'),
  entriesDone: count('Entries of the effective plan that are done on all nodes of the wave.'),
});

const FindingField = Schema.Struct({
  reason: Schema.Literals(FINDING_REASONS).annotate({ description: 'One-word cause.' }),
  message: Schema.String.check(Schema.isMaxLength(LIMITS.messageCharacters)).annotate({
    description: 'The object that blocks and why, or what is lost.',
  }),
  pods: count('Number of these pods.'),
});

const PreviewField = Schema.Struct({
  nodes: count('Nodes that the selector matches.'),
  entries: Schema.Array(
    Schema.Struct({ ...entryFields, pods: count('Pods that leave with this entry.') }),
  ).check(Schema.isMaxLength(LIMITS.drainTargets)).annotate({
    ...atomic,
    description: 'Entries of the effective plan that have pods now, in their order.',
  }),
  staticPods: count('Static pods, which stay.'),
  findings: Schema.Array(FindingField).check(Schema.isMaxLength(LIMITS.findings)).annotate({
    ...atomic,
    description: 'What would hold pods back now, or be lost with them.',
  }),
  rounds: optionalCount(
    'Evictions one after another that budgets and entries force, at least. ' +
      'Absent while a budget allows none.',
  ),
  terminationSeconds: Schema.optionalKey(
    Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({
      format: 'int64',
      description: 'How long the pods may take to terminate in these rounds, when each ' +
        'replacement is ready at once.',
    }),
  ),
});

/** The progress of the maintenance. */
export const NodeMaintenanceStatus = Schema.Struct({
  observedGeneration: Schema.optionalKey(
    Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({
      format: 'int64',
      description: 'The `metadata.generation` that the controller has observed.',
    }),
  ),
  conditions: Schema.optionalKey(
    ConditionsField.check(Schema.isMaxLength(LIMITS.statusConditions)).annotate({
      description: '`Drained`: all pods that must leave have left all nodes. `Completed`: the ' +
        'nodes are schedulable again. `SelectsAllNodes`: the selector matches every node. ' +
        '`TooManyNodes`: it matches more nodes than the status has room for; the others wait ' +
        'until some leave the selection.',
    }),
  ),
  stageStatuses: Schema.optionalKey(
    Schema.Array(StageStatusField).check(Schema.isMaxLength(LIMITS.stages)).annotate({
      ...mapBy('name'),
      description: 'Stages whose work has started.',
    }),
  ),
  progress: optionalText(
    LIMITS.textCharacters,
    'Drained nodes of the nodes that match, such as `3/12`.',
  ),
  nodeStatuses: Schema.optionalKey(
    Schema.Array(NodeStatusField).check(Schema.isMaxLength(LIMITS.nodes)).annotate({
      ...atomic,
      description: 'One item for each node; of those that wait, as many as there is room for.',
    }),
  ),
  waves: Schema.optionalKey(
    Schema.Array(WaveField).check(Schema.isMaxLength(LIMITS.nodes)).annotate({
      ...mapBy('number'),
      description: 'How far each wave is in the plan.',
    }),
  ),
  preview: Schema.optionalKey(
    PreviewField.annotate({
      description: 'What a drain would meet now, while the stage is `Idle`. Renewed at most ' +
        'once in half a minute.',
    }),
  ),
});
