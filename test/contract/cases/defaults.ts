/** Contract: what objects of each kind begin with. */
import { budget, coreEvent, node, pod, secret, service, workload } from '../objects.ts';
import { absent, exactly, get, like, made, ok, post, put } from '../steps.ts';
import type { Area } from '../suite.ts';

/** What the server fills in when an object of a built-in kind is made. */
export const defaults: Area = {
  title: 'Defaults',
  cases: {
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
    "the client's status of a new pod is ignored": [
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
    'the allocatable of a node defaults to its capacity': [
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
    'an event is stored as sent': [
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
      exactly('lastTimestamp', null),
      exactly('firstTimestamp', null),
      exactly('eventTime', null),
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
      exactly('lastTimestamp', null),
      exactly('firstTimestamp', null),
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
  },
};
