/** The table of pod requests, on a real API server and with a complete process. */
import { expect, it } from 'vitest';
import { asRecord, type JsonRecord, textAt, valueAt } from '../../src/domain/json.ts';
import { type ClusterClient, COLLECTIONS, nameOf, uidOf } from '../support/api/cluster-client.ts';
import { freshCluster } from '../support/api/fresh-cluster.ts';
import { describeWithTestbed } from '../support/api/testbed.ts';
import { POD_DEMAND_CASES, type PodDemandCase, podOf } from '../support/demand/pod-demand-cases.ts';
import { eventually } from '../support/eventually.ts';
import { ownerOf, PODS, startPodsRole, untilRequestsOf } from '../support/processes/pods-role.ts';

const SERVED = POD_DEMAND_CASES.filter(({ served }) => served);
const WARNINGS = SERVED.flatMap(({ warned = [] }) => warned).length;

const podName = (index: number): string => `case-${index}`;

/** Creates the pod of a case and sets its status. */
const make = async (cluster: ClusterClient, one: PodDemandCase, index: number): Promise<void> => {
  await cluster.create(PODS, [podOf(one, podName(index))]);
  if (one.pod.status === undefined) return;
  await cluster.patch(`${PODS}/${podName(index)}/status`, { status: one.pod.status });
};

/** The fields that a case is about, as a request has them. */
const currentFieldsFor = (one: PodDemandCase, spec: JsonRecord): JsonRecord =>
  Object.fromEntries(
    Object.keys(one.expected ?? {}).map((field) => [field, spec[field] ?? null]),
  );

const notes = async (cluster: ClusterClient): Promise<ReadonlyMap<string, string>> => {
  const noted = new Map<string, string>();
  for (const event of await cluster.list(COLLECTIONS.events)) {
    const pod = textAt(event, 'regarding', 'name') ?? '';
    noted.set(pod, `${noted.get(pod) ?? ''}\n${textAt(event, 'note')}`);
  }
  return noted;
};

describeWithTestbed('the request of a pod, on a real API server', {}, (bed) => {
  it(`says what the table says, in ${SERVED.length} cases`, async () => {
    expect(SERVED.length).toBeGreaterThanOrEqual(POD_DEMAND_CASES.length / 3);
    const cluster = await freshCluster(bed());
    for (const [index, one] of SERVED.entries()) await make(cluster, one, index);
    await startPodsRole({ bed: bed() });
    const pods = new Map((await cluster.list(PODS)).map((pod) => [nameOf(pod), pod]));
    const wanted = SERVED.flatMap((one, index) => {
      const pod = pods.get(podName(index));
      return pod === undefined || one.none !== undefined ? [] : [pod];
    });
    const requests = new Map(
      (await untilRequestsOf(cluster, wanted)).map((request) => [ownerOf(request), request]),
    );
    const table = SERVED.map((one, index) => {
      const request = requests.get(uidOf(pods.get(podName(index))));
      const spec = asRecord(valueAt(request, 'spec'));
      const current = spec === undefined ? 'no request' : currentFieldsFor(one, spec);
      return { title: one.title, current };
    });
    expect(table).toEqual(SERVED.map((one) => ({
      title: one.title,
      current: one.none === undefined ? one.expected ?? {} : 'no request',
    })));

    const warned = SERVED.map(({ warned: fields = [] }, index) => ({ index, fields }));
    expect(WARNINGS).toBeGreaterThan(0);
    await eventually(async () => {
      const noted = await notes(cluster);
      const unsaid = warned.flatMap(({ index, fields }) =>
        fields.filter((field) => !noted.get(podName(index))?.includes(field))
      );
      if (unsaid.length > 0) throw new Error(`nothing is said of ${unsaid.join(' and ')}`);
      return true;
    }, { what: 'the Warnings' });
    const noted = await notes(cluster);
    expect(warned.filter(({ index, fields }) => fields.length === 0 && noted.has(podName(index))))
      .toEqual([]);
  });
});
