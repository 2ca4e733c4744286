/**
 * EvictionRequest: requesters ask that a pod leaves, and interceptors answer in turn (KEP-4563).
 *
 * The schema has what a schema can check. What depends on the user, on the operation or on the
 * status before is in `charts/tidegate/files/policies`.
 */
import { Schema } from 'effect';
import { LIFECYCLE_GROUP } from '../domain/api-group.ts';
import {
  QUALIFIED_NAME,
  QUALIFIED_NAME_MAX,
  RESERVED_DOMAINS,
} from '../domain/eviction-requests/qualified-name.ts';
import { EVICTION_REQUEST_LIMITS } from '../domain/eviction-requests/request-limits.ts';
import { REVIVAL_REFUSED } from '../domain/eviction-requests/requester.ts';
import { ageColumn, type CustomResource, wideColumn } from './crd.ts';
import { ConditionsField, mapBy, TimestampField } from './fields.ts';

const LIMITS = EVICTION_REQUEST_LIMITS;
const RULES = 'x-kubernetes-validations';

const QualifiedNameField = Schema.String.check(
  Schema.isPattern(QUALIFIED_NAME),
  Schema.isMaxLength(QUALIFIED_NAME_MAX),
);

const TextField = Schema.String.check(
  Schema.isMinLength(1),
  Schema.isMaxLength(LIMITS.textCharacters),
);

const notReserved = RESERVED_DOMAINS.map((domain) => `!self.endsWith('.${domain}')`).join(' && ');

const RequesterField = Schema.Struct({
  name: QualifiedNameField.annotate({
    description: 'Domain name of the requester with three labels or more, such as ' +
      '`drain.example.com`.',
    [RULES]: [{
      rule: notReserved,
      message: 'names in the domains k8s.io and kubernetes.io are reserved for Kubernetes',
    }],
  }),
});

const PodReferenceField = Schema.Struct({
  name: TextField.annotate({ description: 'Name of the pod.' }),
  uid: TextField.annotate({ description: 'UID of the pod.' }),
});

const TargetField = Schema.Struct({
  pod: PodReferenceField.annotate({
    description: 'The pod, in the namespace of the request.',
  }),
}).annotate({
  [RULES]: [{ rule: 'self == oldSelf', message: 'the target is immutable' }],
});

const isEmpty = (value: string): string =>
  `(!has(${value}.requesters) || size(${value}.requesters) == 0)`;

/** Who requests that which pod leaves. */
const EvictionRequestSpec = Schema.Struct({
  target: TargetField.annotate({ description: 'What must leave. Immutable.' }),
  requesters: Schema.optionalKey(
    Schema.Array(RequesterField).check(Schema.isMaxLength(LIMITS.requesters)).annotate({
      ...mapBy('name'),
      description: 'Who requests it. Each requester applies its own entry with its own field ' +
        'manager. The request is canceled when the last one leaves, for good.',
    }),
  ),
}).annotate({
  [RULES]: [{
    rule: `!${isEmpty('oldSelf')} || ${isEmpty('self')}`,
    message: `${REVIVAL_REFUSED}: delete it and create a new one`,
    fieldPath: '.requesters',
  }],
});
/** Who requests that which pod leaves. */
type EvictionRequestSpec = typeof EvictionRequestSpec.Type;

const InterceptorNameField = QualifiedNameField.annotate({
  description: 'Domain name of the interceptor.',
});

const InterceptorField = Schema.Struct({ name: InterceptorNameField });

const time = (description: string) => Schema.optionalKey(TimestampField.annotate({ description }));

const InterceptorStatusField = Schema.Struct({
  name: InterceptorNameField,
  startTime: time('When it became active. Written by the controller, once.'),
  heartbeatTime: time(
    'When it last reported that it makes progress. It only increases, by 60 seconds or more.',
  ),
  expectedFinishTime: time('When it expects to finish. Changes no deadline.'),
  completionTime: time('When it finished, whether or not the pod left. Set once.'),
  message: Schema.optionalKey(
    Schema.String.check(Schema.isMaxLength(LIMITS.messageCharacters)).annotate({
      default: '',
      description: 'Its progress, for people; may be empty.',
    }),
  ),
});

const names = (max: number, description: string) =>
  Schema.optionalKey(
    Schema.Array(QualifiedNameField).check(Schema.isMaxLength(max)).annotate({
      'x-kubernetes-list-type': 'set',
      description,
    }),
  );

/** The progress of the request. */
const EvictionRequestStatus = Schema.Struct({
  observedGeneration: Schema.optionalKey(
    Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)).annotate({
      format: 'int64',
      description: 'The `metadata.generation` that the controller has observed.',
    }),
  ),
  conditions: Schema.optionalKey(
    ConditionsField.check(Schema.isMaxLength(LIMITS.conditions)).annotate({
      description: '`Canceled` and `Evicted` are final once True. `InterceptorSilent` is True ' +
        'while the active interceptor does not report.',
    }),
  ),
  targetInterceptors: Schema.optionalKey(
    Schema.Array(InterceptorField).check(Schema.isMaxLength(LIMITS.targetInterceptors))
      .annotate({
        ...mapBy('name'),
        description: 'All interceptors in their order. Set once by the controller.',
      }),
  ),
  activeInterceptors: names(1, 'The interceptor that acts now.'),
  processedInterceptors: names(
    LIMITS.targetInterceptors,
    'Interceptors that were active before, in order.',
  ),
  interceptors: Schema.optionalKey(
    Schema.Array(InterceptorStatusField).check(Schema.isMaxLength(LIMITS.targetInterceptors))
      .annotate({
        ...mapBy('name'),
        description: 'The progress of each interceptor, which only that interceptor reports.',
      }),
  ),
});
/** The progress of the request. */
type EvictionRequestStatus = typeof EvictionRequestStatus.Type;

const EXAMPLE_UID = '9b1c6f2e-3a57-4d0e-8f6a-2f1d5c7e8a90';

/** The custom resource. */
export const evictionRequest: CustomResource = {
  group: LIFECYCLE_GROUP,
  category: 'lifecycle',
  kind: 'EvictionRequest',
  plural: 'evictionrequests',
  shortNames: ['evreq'],
  scope: 'Namespaced',
  description: 'Requests that a pod leaves. The interceptors of the pod act one after another; ' +
    'the last one is the eviction of the pod. Its name is the UID of the pod.',
  rules: [
    {
      rule: `!has(self.metadata.generateName) || self.metadata.generateName == ''`,
      message: 'metadata.generateName is not supported: the name is the UID of the pod',
    },
    {
      rule: 'self.metadata.name == self.spec.target.pod.uid',
      message: 'metadata.name must be the UID in spec.target.pod.uid',
    },
  ],
  spec: EvictionRequestSpec,
  status: EvictionRequestStatus,
  columns: [
    { name: 'Pod', type: 'string', jsonPath: '.spec.target.pod.name' },
    { name: 'Active', type: 'string', jsonPath: '.status.activeInterceptors[0]' },
    {
      name: 'Evicted',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Evicted")].status',
    },
    {
      name: 'Canceled',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Canceled")].status',
    },
    ageColumn,
    wideColumn('Requesters', '.spec.requesters[*].name'),
    wideColumn('Processed', '.status.processedInterceptors'),
    wideColumn('Silent', '.status.conditions[?(@.type=="InterceptorSilent")].status'),
  ],
  selectableFields: ['.spec.target.pod.name'],
  example: {
    metadata: { name: EXAMPLE_UID, namespace: 'research' },
    spec: {
      target: { pod: { name: 'training-0', uid: EXAMPLE_UID } },
      requesters: [{ name: 'drain.example.com' }],
    },
  },
};
