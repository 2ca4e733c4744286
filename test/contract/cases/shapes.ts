/** Contract: what objects and lists look like. */
import {
  budget,
  configMap,
  coreEvent,
  namespace,
  node,
  pod,
  secret,
  service,
  workload,
} from '../objects.ts';
import {
  absent,
  del,
  exactly,
  get,
  getAs,
  keep,
  like,
  made,
  names,
  ok,
  post,
  put,
} from '../steps.ts';
import type { Area } from '../suite.ts';

const UID = like(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const TIME = like(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
const REVISION = like(/^[1-9]\d*$/);
const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';

/** Shapes of objects, lists and answers to deletions, and defaults. */
export const shapes: Area = {
  title: 'Shapes',
  cases: {
    'a new object has a UID, a time, a namespace and a revision': [
      post(
        'configmaps',
        configMap('a'),
        made({
          kind: 'ConfigMap',
          apiVersion: 'v1',
          metadata: {
            name: 'a',
            namespace: '{ns}',
            uid: UID,
            creationTimestamp: TIME,
            resourceVersion: REVISION,
          },
        }),
      ),
    ],
    'an object is read as it was answered when it was made': [
      post('configmaps', configMap('a', { data: { x: 'y' } })),
      keep({ rv: 'metadata.resourceVersion', uid: 'metadata.uid' }),
      get(
        'configmaps/a',
        ok({
          kind: 'ConfigMap',
          apiVersion: 'v1',
          data: { x: 'y' },
          metadata: { uid: '{uid}', resourceVersion: '{rv}' },
        }),
      ),
    ],
    'a cluster-wide object has no namespace': [
      post('nodes', node('{ns}')),
      absent('metadata.namespace'),
    ],
    'UID, time and deletion are not taken from a new object': [
      post(
        'configmaps',
        configMap('a', {
          metadata: {
            uid: 'mine',
            creationTimestamp: '2001-01-01T00:00:00Z',
            deletionTimestamp: '2001-01-01T00:00:00Z',
            selfLink: '/mine',
          },
        }),
        made({ metadata: { uid: UID, creationTimestamp: like(/^20[2-9]/) } }),
      ),
      absent('metadata.deletionTimestamp', 'metadata.deletionGracePeriodSeconds'),
    ],
    'fields that are not of its kind are dropped': [
      post('configmaps', { ...configMap('a'), other: 1, metadata: { name: 'a', more: 'b' } }),
      absent('other', 'metadata.more'),
    ],
    'fields that are not of its kind are refused when asked so': [
      post('configmaps?fieldValidation=Strict', { ...configMap('a'), other: 1 }, 400),
    ],
    'fields that are not of its kind are warned of when asked so': [
      post('configmaps?fieldValidation=Warn', { ...configMap('a'), other: 1 }, 201),
      absent('other'),
    ],
    'a list says its kind and its revision': [
      get(
        'configmaps',
        ok({
          kind: 'ConfigMapList',
          apiVersion: 'v1',
          metadata: { resourceVersion: REVISION },
          items: [],
        }),
      ),
      absent('metadata.continue', 'metadata.remainingItemCount'),
    ],
    'items of a list have neither kind nor version of their own': [
      post('configmaps', configMap('a')),
      get('configmaps'),
      names('a'),
      absent('items.0.kind', 'items.0.apiVersion'),
    ],
    'a list of a named group says its version': [
      get('deployments', ok({ kind: 'DeploymentList', apiVersion: 'apps/v1' })),
    ],
    'a list is in the order of its names': [
      post('configmaps', configMap('b')),
      post('configmaps', configMap('c')),
      post('configmaps', configMap('a')),
      post('configmaps', configMap('a.b')),
      post('configmaps', configMap('a-b')),
      get('configmaps'),
      names('a', 'a-b', 'a.b', 'b', 'c'),
    ],
    'a list over all namespaces is in the order of its keys: a dash comes before the end': [
      post('namespaces', namespace('{ns}-z')),
      post(
        '/api/v1/namespaces/{ns}-z/configmaps',
        configMap('a', { metadata: { labels: { c: '{ns}' } } }),
      ),
      post('configmaps', configMap('b', { metadata: { labels: { c: '{ns}' } } })),
      get('all:configmaps?labelSelector=c={ns}'),
      names('a', 'b'),
    ],
    'a deletion answers what was deleted': [
      post('configmaps', configMap('a')),
      keep({ uid: 'metadata.uid' }),
      del(
        'configmaps/a',
        undefined,
        ok({
          kind: 'Status',
          apiVersion: 'v1',
          status: 'Success',
          details: { name: 'a', kind: 'configmaps', uid: '{uid}' },
        }),
      ),
    ],
    'a deletion in a named group answers the group': [
      post('poddisruptionbudgets', budget('a')),
      del(
        'poddisruptionbudgets/a',
        undefined,
        ok({
          status: 'Success',
          details: { name: 'a', group: 'policy', kind: 'poddisruptionbudgets' },
        }),
      ),
    ],
    'a deleted pod is answered as a pod': [
      post('pods', pod('a')),
      del('pods/a', undefined, ok({ kind: 'Pod', metadata: { name: 'a' } })),
    ],
    'a namespace is active, labelled with its name and finalized by the cluster': [
      get(
        'namespaces/{ns}',
        ok({
          metadata: { labels: { 'kubernetes.io/metadata.name': '{ns}' } },
          spec: { finalizers: ['kubernetes'] },
          status: { phase: 'Active' },
        }),
      ),
    ],
    'a new pod is pending, of a class, with the defaults of its spec': [
      post(
        'pods',
        pod('a'),
        made({
          spec: {
            restartPolicy: 'Always',
            terminationGracePeriodSeconds: 30,
            dnsPolicy: 'ClusterFirst',
            securityContext: {},
            schedulerName: 'default-scheduler',
            enableServiceLinks: true,
            priority: 0,
            preemptionPolicy: 'PreemptLowerPriority',
            containers: [{
              name: 'main',
              image: 'none',
              resources: {},
              terminationMessagePath: '/dev/termination-log',
              terminationMessagePolicy: 'File',
              imagePullPolicy: 'Always',
            }],
          },
          status: { phase: 'Pending', qosClass: 'BestEffort' },
        }),
      ),
    ],
    'a new pod tolerates nodes that are not ready for five minutes': [
      post('pods', pod('a')),
      exactly(
        'spec.tolerations',
        ['not-ready', 'unreachable'].map((key) => ({
          key: `node.kubernetes.io/${key}`,
          operator: 'Exists',
          effect: 'NoExecute',
          tolerationSeconds: 300,
        })),
      ),
    ],
    'a pod with requests below its limits is burstable, with equal ones guaranteed': [
      post(
        'pods',
        pod('a', {
          containers: [{ name: 'm', image: 'n', resources: { requests: { cpu: '1' } } }],
        }),
        made({ status: { qosClass: 'Burstable' } }),
      ),
      post(
        'pods',
        pod('b', {
          containers: [{
            name: 'm',
            image: 'n',
            resources: { limits: { cpu: '1', memory: '1Gi' } },
          }],
        }),
        made({
          spec: { containers: [{ resources: { requests: { cpu: '1', memory: '1Gi' } } }] },
          status: { qosClass: 'Guaranteed' },
        }),
      ),
    ],
    'the status of a new pod is not what its maker says': [
      post(
        'pods',
        { ...pod('a'), status: { phase: 'Running', podIP: '1.2.3.4' } },
        made({
          status: { phase: 'Pending' },
        }),
      ),
      absent('status.podIP'),
    ],
    'the priority of a pod is that of its class': [
      post('priorityclasses', {
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        metadata: { name: '{ns}' },
        value: 77,
      }),
      post('pods', pod('a', { priorityClassName: '{ns}' }), made({ spec: { priority: 77 } })),
    ],
    'a pod of a priority class that is not there is forbidden': [
      post('pods', pod('a', { priorityClassName: '{ns}-none' }), {
        status: 403,
        body: { reason: 'Forbidden' },
      }),
    ],
    'the classes of the system are there': [
      get('priorityclasses/system-node-critical', ok({ value: 2_000_001_000 })),
      get('priorityclasses/system-cluster-critical', ok({ value: 2_000_000_000 })),
    ],
    'a node keeps the status that it is made with': [
      post('nodes', {
        ...node('{ns}'),
        status: { capacity: { cpu: '4' }, allocatable: { cpu: '4' } },
      }, made({ status: { capacity: { cpu: '4' }, allocatable: { cpu: '4' } } })),
    ],
    'a new node is tainted as not ready': [
      post(
        'nodes',
        node('{ns}'),
        made({
          spec: { taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] },
        }),
      ),
    ],
    'the allocatable of a node is its capacity unless it is said': [
      post(
        'nodes',
        { ...node('{ns}'), status: { capacity: { cpu: '2', memory: '1Gi' } } },
        made({
          status: { allocatable: { cpu: '2', memory: '1Gi' } },
        }),
      ),
    ],
    'a new Deployment has the defaults of its spec': [
      post(
        'deployments',
        workload('a', { replicas: undefined }),
        made({
          spec: {
            replicas: 1,
            revisionHistoryLimit: 10,
            progressDeadlineSeconds: 600,
            strategy: {
              type: 'RollingUpdate',
              rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' },
            },
            template: { spec: { restartPolicy: 'Always', terminationGracePeriodSeconds: 30 } },
          },
        }),
      ),
    ],
    'a new StatefulSet has the defaults of its spec': [
      post(
        'statefulsets',
        workload('a', { serviceName: 'a' }, 'StatefulSet'),
        made({
          spec: {
            replicas: 1,
            podManagementPolicy: 'OrderedReady',
            updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
          },
        }),
      ),
    ],
    'a new DaemonSet has the defaults of its spec': [
      post(
        'daemonsets',
        workload('a', { replicas: undefined }, 'DaemonSet'),
        made({
          spec: {
            updateStrategy: {
              type: 'RollingUpdate',
              rollingUpdate: { maxUnavailable: 1, maxSurge: 0 },
            },
            revisionHistoryLimit: 10,
          },
        }),
      ),
    ],
    'the status of a new Deployment is empty': [
      post('deployments', { ...workload('a'), status: { replicas: 7 } }),
      absent('status.replicas'),
    ],
    'the status of a new budget counts nothing': [
      post(
        'poddisruptionbudgets',
        { ...budget('a'), status: { disruptionsAllowed: 3 } },
        made({
          status: { currentHealthy: 0, desiredHealthy: 0, disruptionsAllowed: 0, expectedPods: 0 },
        }),
      ),
    ],
    'a new service has an address and a type': [
      post(
        'services',
        service('a', { spec: { ports: [{ port: 80 }] } }),
        made({
          spec: {
            type: 'ClusterIP',
            clusterIP: like(/^\d+\.\d+\.\d+\.\d+$/),
            sessionAffinity: 'None',
            ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }],
          },
        }),
      ),
    ],
    'a headless service has no address': [
      post(
        'services',
        service('a', { spec: { clusterIP: 'None', ports: [{ port: 80 }] } }),
        made({
          spec: { clusterIP: 'None' },
        }),
      ),
    ],
    'a secret is opaque and its texts are written as data': [
      post(
        'secrets',
        secret('a', { stringData: { a: 'b' } }),
        made({
          type: 'Opaque',
          data: { a: 'Yg==' },
        }),
      ),
      absent('stringData'),
    ],
    'a new volume claim is pending': [
      post('persistentvolumeclaims', {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: 'a' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      }, made({ spec: { volumeMode: 'Filesystem' }, status: { phase: 'Pending' } })),
    ],
    'a new volume is pending and retained': [
      post(
        'persistentvolumes',
        {
          apiVersion: 'v1',
          kind: 'PersistentVolume',
          metadata: { name: '{ns}' },
          spec: {
            capacity: { storage: '1Gi' },
            accessModes: ['ReadWriteOnce'],
            hostPath: { path: '/a' },
          },
        },
        made({
          spec: { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' },
          status: { phase: 'Pending' },
        }),
      ),
    ],
    'an event is kept as it was told': [
      post(
        'events',
        coreEvent('a', {
          involvedObject: { kind: 'Pod', name: 'p', namespace: '{ns}' },
          reason: 'Told',
          message: 'm',
          type: 'Normal',
        }),
        made({ reason: 'Told', involvedObject: { name: 'p' }, type: 'Normal' }),
      ),
    ],
    'an event of the new group is read in both groups': [
      post('/apis/events.k8s.io/v1/namespaces/{ns}/events', {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata: { name: 'a' },
        regarding: { kind: 'Pod', name: 'p', namespace: '{ns}' },
        reason: 'Told',
        action: 'Tell',
        note: 'words',
        type: 'Warning',
        eventTime: '2026-01-01T00:00:00.000000Z',
        reportingController: 'c.example.com/x',
        reportingInstance: 'i',
      }),
      get(
        'events/a',
        ok({
          kind: 'Event',
          apiVersion: 'v1',
          message: 'words',
          involvedObject: { name: 'p' },
          reportingComponent: 'c.example.com/x',
        }),
      ),
      get(
        '/apis/events.k8s.io/v1/namespaces/{ns}/events/a',
        ok({
          apiVersion: 'events.k8s.io/v1',
          note: 'words',
          regarding: { name: 'p' },
        }),
      ),
    ],
    'a lease can be made by an update': [
      put('leases/a', {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'a' },
        spec: { holderIdentity: 'me', leaseDurationSeconds: 15 },
      }, 201),
      get('leases/a', ok({ spec: { holderIdentity: 'me' } })),
    ],
    'metadata alone is answered when it is asked for': [
      post('configmaps', configMap('a', { data: { x: 'y' } })),
      getAs(
        METADATA_ONLY,
        'configmaps/a',
        ok({
          kind: 'PartialObjectMetadata',
          apiVersion: 'meta.k8s.io/v1',
          metadata: { name: 'a' },
        }),
      ),
      absent('data'),
    ],
    'lists of metadata alone are answered when they are asked for': [
      post('configmaps', configMap('a', { data: { x: 'y' } })),
      getAs(
        METADATA_LIST,
        'configmaps',
        ok({
          kind: 'PartialObjectMetadataList',
          apiVersion: 'meta.k8s.io/v1',
          items: [{ metadata: { name: 'a' } }],
        }),
      ),
      absent('items.0.data'),
    ],
  },
};
