/**
 * Plays one attack and judges what became of the operator.
 *
 * Promises: a verdict names the first promise that was broken: that the operator reports the
 * attack, works as before, still leads, and was responsive throughout; what the attack left in the
 * cluster, in the session and in the proxies is gone before the next one.
 */
import { type JsonRecord, numberAt, textAt, valueAt } from '../../src/domain/json.ts';
import { eventually } from '../support/eventually.ts';
import { metricValue } from '../support/processes/metric-texts.ts';
import type { Attack, CounterReport, GaugeReport, Report, Statuses } from './attack.ts';
import { reportText } from './attack.ts';
import { playHealthCheck } from './health-check.ts';
import {
  type AttackSite,
  CONTROL_PLANE,
  each,
  IDENTITY,
  PATHS,
  pendingPod,
  SECRET,
  soon,
  type Stall,
  WORKERS,
} from './site.ts';

/** The longest that a peer may keep the operator from everything else. */
const STALL_MS_MAX = 200;
const OK = 200;
const PAYLOAD_TEXT_MAX = 2000;

/** What became of the operator. */
export interface Verdict {
  /** What broke; `undefined` when nothing did. */
  readonly breach: string | undefined;
  readonly stall: Stall;
}

/** What was reported before the attack. */
interface Before {
  readonly line: number;
  readonly metrics: string;
  readonly events: ReadonlySet<string>;
}

const eventTexts = ({ api }: AttackSite): readonly JsonRecord[] =>
  api.list(PATHS.allEvents).map((event) => ({
    reason: textAt(event, 'reason') ?? '',
    note: textAt(event, 'note') ?? '',
    name: textAt(event, 'metadata', 'name') ?? '',
    count: numberAt(event, 'series', 'count') ?? 1,
  }));

const look = async (site: AttackSite): Promise<Before> => ({
  line: site.operator.logs().length,
  metrics: await site.operator.metrics(),
  events: new Set(eventTexts(site).map((event) => JSON.stringify(event))),
});

/** By how much a metric is higher than before the attack. */
const risen = async (
  { operator }: AttackSite,
  { name, labels }: CounterReport | GaugeReport,
  { metrics }: Before,
): Promise<number> => await operator.metric(name, labels) - metricValue(metrics, name, labels);

const isReported = async (
  site: AttackSite,
  report: Report,
  { before, statuses }: { readonly before: Before; readonly statuses: Statuses },
): Promise<boolean> => {
  switch (report._tag) {
    case 'Log':
      return site.operator.logs().slice(before.line).some((line) =>
        line['message'] === report.message && JSON.stringify(line).includes(report.containing)
      );
    case 'Event':
      return eventTexts(site).some((event) =>
        event['reason'] === report.reason &&
        (textAt(event, 'note') ?? '').includes(report.containing) &&
        !before.events.has(JSON.stringify(event))
      );
    case 'Counter':
      return await risen(site, report, before) > 0;
    case 'Gauge':
      return await risen(site, report, before) >= report.least;
    case 'Status':
      return report.of === 'every'
        ? statuses.length > 0 && statuses.every((code) => code === report.code)
        : statuses.includes(report.code);
    case 'Closed':
      return statuses.length > 0 && statuses.every((code) => code === 0);
    case 'Reply':
      return site.shard.received().some((payload) =>
        payload.case !== 'rollup' &&
        JSON.stringify(payload, (_key, value: unknown) =>
          typeof value === 'bigint' ? String(value) : value).slice(0, PAYLOAD_TEXT_MAX)
          .includes(report.containing)
      );
  }
};

const untilReported = async (
  site: AttackSite,
  reports: readonly Report[],
  about: { readonly before: Before; readonly statuses: Statuses },
): Promise<void> => {
  for (const report of reports) {
    const got = about.statuses.length === 0 ? '' : ` (got ${about.statuses.slice(0, 8).join(' ')})`;
    await soon(`${reportText(report)}${got}`, () => isReported(site, report, about));
  }
};

const renewedAt = ({ api }: AttackSite): string =>
  textAt(api.ask('GET', PATHS.lease), 'spec', 'renewTime') ?? '';

/** Waits for a renewal by the operator that has led from the start. */
const stillLeads = async (site: AttackSite): Promise<string | undefined> => {
  const before = renewedAt(site);
  await soon('the Lease to be renewed', () => renewedAt(site) !== before);
  const spec = valueAt(site.api.ask('GET', PATHS.lease), 'spec');
  const holder = textAt(spec, 'holderIdentity') ?? '';
  const transitions = numberAt(spec, 'leaseTransitions') ?? 0;
  if (holder !== IDENTITY) return `the Lease is held by "${holder}"`;
  return transitions === 0 ? undefined : `leadership was lost ${transitions} times`;
};

const isProbed = async ({ operator }: AttackSite): Promise<string | undefined> => {
  for (const path of ['/healthz', '/readyz'] as const) {
    const status = await operator.probe(path);
    if (status !== OK) return `${path} answers ${status}`;
  }
  return undefined;
};

/** The secret of the template, the kubeconfig and the page is in no log line and no Event. */
const secretIn = (site: AttackSite, { line }: Before): string | undefined => {
  const texts = [
    ...site.operator.logs().slice(line).map((one) => JSON.stringify(one)),
    ...site.api.list(PATHS.allEvents).map((one) => JSON.stringify(one)),
  ];
  return texts.some((text) => text.includes(SECRET)) ? 'a secret was printed' : undefined;
};

const isOurs = (node: JsonRecord): boolean =>
  [CONTROL_PLANE, ...WORKERS].includes(textAt(node, 'metadata', 'name') ?? '');

const remove = ({ api }: AttackSite, collection: string, name: string): void => {
  api.status('PATCH', `${collection}/${name}`, { metadata: { finalizers: null } });
  api.status('DELETE', `${collection}/${name}`, { gracePeriodSeconds: 0 });
};

/** Resets what an attack on one of our own Nodes changed. */
const restoreNode = ({ api }: AttackSite, node: JsonRecord): void => {
  const annotations = Object.keys(Object(valueAt(node, 'metadata', 'annotations')));
  const cordons = annotations.filter((key) => key.includes('tidegate'));
  if (cordons.length === 0 && valueAt(node, 'spec', 'unschedulable') !== true) return;
  api.ask('PATCH', `${PATHS.nodes}/${textAt(node, 'metadata', 'name') ?? ''}`, {
    metadata: { annotations: Object.fromEntries(cordons.map((key) => [key, null])) },
    spec: { unschedulable: null },
  });
};

const machineIdOf = (upcoming: JsonRecord): string =>
  textAt(upcoming, 'metadata', 'annotations', 'bigfleet.lucy.sh/machine-id') ?? '';

/** Gauges that attacks raise. */
const RAISED = ['tidegate_rollup_needs', 'tidegate_pod_evictions', 'tidegate_machines'];

/** Whether the operator works on nothing: what an attack raises is compared with this. */
const isAtRest = async ({ operator }: AttackSite): Promise<boolean> => {
  const metrics = await operator.metrics();
  return RAISED.every((name) => metricValue(metrics, name) === 0);
};

/** Whether the caches hold exactly what the cluster has. */
const isFollowed = async ({ api, operator }: AttackSite): Promise<boolean> => {
  const metrics = await operator.metrics();
  const cached = (resource: string): number =>
    metricValue(metrics, 'tidegate_watch_objects', { resource });
  const requests = metricValue(metrics, 'tidegate_capacity_requests');
  return requests === api.list(PATHS.requests).length &&
    cached('pods') === api.list(PATHS.pods).length &&
    cached('nodes') === api.list(PATHS.nodes).length;
};

/** Removes what attacks leave behind, and waits until the operator has nothing of it. */
const clean = async (site: AttackSite): Promise<void> => {
  const { api, shard, proxy, shardFront } = site;
  proxy.clear();
  shardFront.set({ _tag: 'Pass' });
  shard.acknowledge(true);
  shard.withdraw();
  for (const collection of [PATHS.requests, PATHS.pods, PATHS.budgets]) {
    await each(
      api.list(collection),
      (object) => remove(site, collection, textAt(object, 'metadata', 'name') ?? ''),
    );
  }
  for (const node of api.list(PATHS.nodes)) {
    if (isOurs(node)) restoreNode(site, node);
    else remove(site, PATHS.nodes, textAt(node, 'metadata', 'name') ?? '');
  }
  await shard.untilSession();
  await eventually(() => {
    const listed = api.list(PATHS.upcomingNodes);
    for (const object of listed) shard.unbind(machineIdOf(object));
    return listed.length === 0;
  }, { what: 'every UpcomingNode to go', everyMs: 50, timeoutMs: 20_000 });
  // An event on the watch ends its backoff, which would hold up what follows.
  const beat = `beat-${site.number()}`;
  api.ask('POST', PATHS.pods, pendingPod(beat));
  await soon('the operator to see a pod', () => isFollowed(site));
  remove(site, PATHS.pods, beat);
  await soon('the operator to see what is left', () => isFollowed(site));
  await soon('the operator to be at rest', () => isAtRest(site));
  shard.forget();
};

/** Plays it until it is reported. */
const playOnce = async (site: AttackSite, attack: Attack, before: Before): Promise<void> => {
  const statuses = await attack.play(site) ?? [];
  await untilReported(site, attack.reports, { before, statuses });
};

/** Plays it again when the session ended, which may have lost its frames. */
const playReported = async (site: AttackSite, attack: Attack, before: Before): Promise<void> => {
  const session = site.shard.sessions();
  try {
    await playOnce(site, attack, before);
  } catch (cause) {
    if (attack.who !== 'shard' || site.shard.sessions() === session) throw cause;
    await site.shard.untilSession();
    await playOnce(site, attack, before);
  }
};

const playAndCheck = async (site: AttackSite, attack: Attack): Promise<string | undefined> => {
  const before = await look(site);
  try {
    await playReported(site, attack, before);
    await site.shard.untilSession();
    await playHealthCheck(site);
    return await attack.breach?.(site) ?? await stillLeads(site) ?? await isProbed(site) ??
      secretIn(site, before);
  } catch (cause) {
    if (!site.operator.isRunning()) return 'the operator has ended';
    return cause instanceof Error ? cause.message : String(cause);
  }
};

/** Plays an attack on a healthy operator, and cleans up. */
export const evaluate = async (site: AttackSite, attack: Attack): Promise<Verdict> => {
  await site.stall();
  const breach = await playAndCheck(site, attack);
  if (!site.operator.isRunning()) return { breach, stall: { delayMs: Infinity, cpuMs: Infinity } };
  const stall = await site.stall();
  await clean(site);
  const isStalled = stall.delayMs > STALL_MS_MAX && stall.cpuMs > STALL_MS_MAX;
  return {
    breach: breach ?? (isStalled ? `a stall of ${Math.round(stall.delayMs)} ms` : undefined),
    stall,
  };
};
