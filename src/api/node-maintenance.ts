/**
 * NodeMaintenance: nodes that are to be cordoned, drained and given back (KEP-4212).
 *
 * The schema has what a schema can check. What depends on the user or on the status before is in
 * `charts/tidegate/files/policies`.
 */
import { Schema } from 'effect';
import { LIFECYCLE_GROUP } from '../domain/api-group.ts';
import { NODE_MAINTENANCE_LIMITS } from '../domain/node-maintenance/maintenance-limits.ts';
import { RELEASES } from '../domain/node-maintenance/observed-maintenance.ts';
import { POD_TYPES } from '../domain/node-maintenance/typed-pods.ts';
import { STAGES } from '../domain/node-maintenance/stage.ts';
import { ageColumn, type CustomResource, wideColumn } from './crd.ts';
import { atomic, int32Field, LabelKeyField } from './fields.ts';
import { NodeSelectorField, PodSelectorField } from './node-maintenance-selectors.ts';
import { NodeMaintenanceStatus } from './node-maintenance-status.ts';

const LIMITS = NODE_MAINTENANCE_LIMITS;
const RULES = 'x-kubernetes-validations';

const StageField = Schema.Literals(STAGES).annotate({
  default: 'Idle',
  description: 'What is done: nothing (`Idle`), no new pods (`Cordon`), no new pods and all pods ' +
    'leave (`Drain`), or new pods again (`Complete`). Stages only go forward.',
});

const PlanEntryField = Schema.Struct({
  podSelector: Schema.optionalKey(
    PodSelectorField.annotate({ description: 'Only pods with these labels.' }),
  ),
  podPriority: int32Field().annotate({ description: 'Pods of this priority and below.' }),
  podType: Schema.optionalKey(
    Schema.Literals(POD_TYPES).annotate({
      default: 'Default',
      description: 'Pods of DaemonSets, static pods, or all others.',
    }),
  ),
});

/** `rankOf` of `src/domain/node-maintenance/drain-plan.ts`, in CEL. */
const RANK = `(e.podType == 'Static' ? 2 : e.podType == 'DaemonSet' ? 1 : 0) * 8589934592 ` +
  '+ e.podPriority * 2 + (has(e.podSelector) ? 0 : 1)';

const DrainPlanField = Schema.Array(PlanEntryField).check(Schema.isMaxLength(LIMITS.planEntries))
  .annotate({
    ...atomic,
    description: 'Which pods leave before which. The steps of the priority classes of Kubernetes ' +
      'are added for each type. Immutable.',
    [RULES]: [{
      rule: `self.map(e, ${RANK}).isSorted()`,
      message: 'entries must be ordered by podType (Default, DaemonSet, Static), then by ' +
        'podPriority, then those with a podSelector first',
    }],
  });

const PERCENT = /^([1-9][0-9]?|100)%$/u;

const NodeCountField = Schema.Union([
  Schema.Int,
  Schema.String.check(Schema.isPattern(PERCENT), Schema.isMaxLength(4)),
]).annotate({
  'x-kubernetes-int-or-string': true,
  description: 'How many nodes are cordoned and drained at once: a number, or a percentage of ' +
    'the nodes that match, rounded down and at least one. Default: all.',
  [RULES]: [{ rule: 'type(self) == string || self >= 1', message: 'must be at least 1' }],
});

/** Five fields; what they may be is checked by the controller, which reports a malformed one. */
const FIVE_FIELDS = /^[^ ]+( [^ ]+){4}$/u;

const WindowField = Schema.Struct({
  schedule: Schema.String.check(
    Schema.isPattern(FIVE_FIELDS),
    Schema.isMaxLength(LIMITS.textCharacters),
  ).annotate({
    description: 'When it opens: minute, hour, day, month and weekday of cron, each after one ' +
      'space.',
  }),
  durationMinutes: Schema.Int.check(
    Schema.isBetween({ minimum: 1, maximum: LIMITS.windowMinutes }),
  ).annotate({ format: 'int32', description: 'How long it is open.' }),
  timeZone: Schema.optionalKey(
    Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(LIMITS.textCharacters))
      .annotate({ default: 'UTC', description: 'IANA name of the time zone of the schedule.' }),
  ),
});

/** `{'Idle': 0, …}`: each stage with its number. */
const STAGE_ORDER = `{${STAGES.map((stage, index) => `'${stage}': ${index}`).join(', ')}}`;

const isSame = (field: string): string =>
  `has(self.${field}) == has(oldSelf.${field}) ` +
  `&& (!has(self.${field}) || self.${field} == oldSelf.${field})`;

/** Which nodes are to be maintained, and how. */
const NodeMaintenanceSpec = Schema.Struct({
  nodeSelector: NodeSelectorField.annotate({
    description: 'The nodes. Immutable once the stage is not `Idle`.',
  }),
  stage: Schema.optionalKey(StageField),
  drainPlan: Schema.optionalKey(DrainPlanField),
  podTypes: Schema.optionalKey(
    Schema.Array(Schema.Literals(POD_TYPES))
      .check(Schema.isMinLength(1), Schema.isMaxLength(POD_TYPES.length)).annotate({
        'x-kubernetes-list-type': 'set',
        description: 'Types of pods that leave; the others stay. Default: all. Immutable.',
      }),
  ),
  podSelector: Schema.optionalKey(
    PodSelectorField.annotate({
      description: 'Only pods with these labels leave; the others stay. Default: all. Immutable.',
    }),
  ),
  gracePeriodSeconds: Schema.optionalKey(
    int32Field(1).annotate({
      description: 'How long each pod gets to stop, instead of its own ' +
        '`terminationGracePeriodSeconds`, unless others evict it as well. Immutable.',
    }),
  ),
  reason: Schema.optionalKey(
    Schema.String.check(Schema.isMaxLength(LIMITS.reasonCharacters)).annotate({
      description: 'Reason for the maintenance, for people.',
    }),
  ),
  maxNodesAtOnce: Schema.optionalKey(NodeCountField),
  topologyKey: Schema.optionalKey(
    LabelKeyField.annotate({
      description: 'A label of nodes, such as their zone: `maxNodesAtOnce` holds for each of its ' +
        'values.',
    }),
  ),
  releaseWhen: Schema.optionalKey(
    Schema.Literals(RELEASES).annotate({
      default: 'Done',
      description: 'When another node follows: after the node is drained, or after its work is ' +
        'done, which its deletion, another boot or the annotation ' +
        '`maintenance.tidegate.dev/done: NAME` shows; several names are separated by commas. ' +
        'Immutable once the stage is not `Idle`.',
    }),
  ),
  window: Schema.optionalKey(
    WindowField.annotate({ description: 'When nodes may begin. Default: always.' }),
  ),
}).annotate({
  [RULES]: [
    {
      rule: `${STAGE_ORDER}[oldSelf.stage] <= ${STAGE_ORDER}[self.stage]`,
      message: 'stages go forward only: Idle, Cordon, Drain, Complete',
      fieldPath: '.stage',
    },
    {
      rule: `oldSelf.stage == 'Idle' || self.nodeSelector == oldSelf.nodeSelector`,
      message: 'nodeSelector is immutable once the stage is not Idle',
      fieldPath: '.nodeSelector',
    },
    {
      rule: `oldSelf.stage == 'Idle' || (${isSame('releaseWhen')})`,
      message: 'releaseWhen is immutable once the stage is not Idle',
      fieldPath: '.releaseWhen',
    },
    ...['drainPlan', 'podTypes', 'podSelector', 'gracePeriodSeconds'].map((field) => ({
      rule: isSame(field),
      message: `${field} is immutable`,
      fieldPath: `.${field}`,
    })),
    {
      rule: '!has(self.topologyKey) || has(self.maxNodesAtOnce)',
      message: 'topologyKey needs maxNodesAtOnce',
      fieldPath: '.topologyKey',
    },
  ],
});

/** The custom resource. */
export const nodeMaintenance: CustomResource = {
  group: LIFECYCLE_GROUP,
  category: 'lifecycle',
  kind: 'NodeMaintenance',
  plural: 'nodemaintenances',
  shortNames: ['nm'],
  scope: 'Cluster',
  description: 'Requests that nodes are cordoned and drained, in the order of a plan, and given ' +
    'back at the end.',
  spec: NodeMaintenanceSpec,
  status: NodeMaintenanceStatus,
  columns: [
    { name: 'Stage', type: 'string', jsonPath: '.spec.stage' },
    {
      name: 'Drained',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Drained")].status',
    },
    { name: 'Nodes', type: 'string', jsonPath: '.status.progress' },
    { name: 'Reason', type: 'string', jsonPath: '.spec.reason' },
    ageColumn,
    wideColumn('Completed', '.status.conditions[?(@.type=="Completed")].status'),
    wideColumn('Message', '.status.conditions[?(@.type=="Drained")].message'),
  ],
  selectableFields: ['.spec.stage'],
  example: {
    metadata: { name: 'os-upgrade' },
    spec: {
      nodeSelector: {
        nodeSelectorTerms: [{
          matchExpressions: [{ key: 'node-pool', operator: 'In', values: ['general'] }],
        }],
      },
      stage: 'Drain',
      drainPlan: [{ podPriority: 5000, podType: 'Default' }],
      maxNodesAtOnce: 2,
      reason: 'Upgrade of the operating system',
    },
  },
};
