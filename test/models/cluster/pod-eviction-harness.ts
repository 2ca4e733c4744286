/**
 * `podEviction` on a cluster: arranges a pod, its budgets, namespace and node so that the API
 * server itself gives the path's answer.
 */
import { ManagedRuntime } from 'effect';
import { Layer } from 'effect';
import { providePodEviction } from '../../../src/actors/pod-evictions/pod-eviction-actor.ts';
import { silentTelemetry } from '../../../src/api/telemetry.ts';
import type { EvictionOutcome } from '../../../src/domain/drain/answer.ts';
import { budgetCovers, projectBudget } from '../../../src/domain/drain/budget.ts';
import { projectDrainedNode } from '../../../src/domain/drain/drained-node.ts';
import { type PodFacts, podFacts } from '../../../src/domain/drain/pod-facts.ts';
import { projectPod } from '../../../src/domain/drain/pod.ts';
import { objectKey } from '../../../src/domain/ids.ts';
import { podEvictionApiLayer } from '../../../src/effects/pod-eviction-api.ts';
import type { PodEvictionInput } from '../../../src/machines/pod-eviction-context.ts';
import { liveEnvironment } from '../../support/api/live-environment.ts';
import type { Order } from './fault-line.ts';
import { type Budgets, GUARD_LABEL, type PodFixtures, podFixtures } from './pod-fixtures.ts';
import { observeCollection, type ObservedCollection } from './observed-collection.ts';
import type { Hand } from './site.ts';
import type {
  ClusterHarness,
  Moment,
  PathRun,
  PathStep,
  RunEnvironment,
  StepSource,
} from './cluster-harness.ts';
import { loseAnswer } from './troubles.ts';

type Tag = EvictionOutcome['_tag'];

/** Whether the namespace is being deleted, which is irreversible. */
interface World {
  readonly ending: boolean;
}

/** Answers that are independent of the namespace, or that no server gives. */
const WHATEVER_ENDS: ReadonlySet<Tag> = new Set([
  'NamespaceTerminating',
  'Unauthenticated',
  'Forbidden',
  'Throttled',
  'Transient',
  'Unknown',
  'NotSent',
  'Refused',
]);
/** Answers for which the pod must not be on its way out. */
const NEEDS_LIVING: ReadonlySet<Tag> = new Set([
  'BudgetExhausted',
  'BudgetUnsettled',
  'TwoBudgets',
  'BudgetBroken',
  'Accepted',
]);
/** Answers that need no pod. */
const WITHOUT_POD: ReadonlySet<Tag> = new Set([
  'Gone',
  'Unauthenticated',
  'Forbidden',
  'Throttled',
  'Transient',
  'Unknown',
  'NotSent',
  'Refused',
]);

const outcomeIn = ({ event }: Moment): EvictionOutcome | undefined =>
  event.type === 'xstate.done.actor.evictPod' ? event['output'] as EvictionOutcome : undefined;

const hindrance = ({ ending }: World, moment: Moment): string | undefined => {
  const outcome = outcomeIn(moment);
  return outcome !== undefined && ending && !WHATEVER_ENDS.has(outcome._tag)
    ? 'a namespace that is being deleted refuses everything'
    : undefined;
};

const ADMISSION = '/apis/admissionregistration.k8s.io/v1';
const POLICY = 'models-guard';

/** A policy that refuses evictions in namespaces with a label. */
const installPolicy = async (hand: Hand): Promise<void> => {
  await hand.call('POST', `${ADMISSION}/validatingadmissionpolicies`, {
    metadata: { name: POLICY },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: {
        resourceRules: [{
          apiGroups: [''],
          apiVersions: ['*'],
          operations: ['CREATE'],
          resources: ['pods/eviction'],
        }],
      },
      validations: [{ expression: 'false', message: 'not today' }],
    },
  });
  await hand.call('POST', `${ADMISSION}/validatingadmissionpolicybindings`, {
    metadata: { name: POLICY },
    spec: {
      policyName: POLICY,
      validationActions: ['Deny'],
      matchResources: { namespaceSelector: { matchLabels: { [GUARD_LABEL]: 'on' } } },
    },
  });
};

/** What the budgets must be for a server to answer so. */
const BUDGETS_FOR: Partial<Readonly<Record<Tag, Budgets>>> = {
  Accepted: 'open',
  BudgetExhausted: 'full',
  BudgetUnsettled: 'unsettled',
  TwoBudgets: 'two',
  BudgetBroken: 'broken',
};

/** Answers that only the wire can produce. */
const ORDERS: Partial<Readonly<Record<Tag, Order>>> = {
  Throttled: {
    kind: 'refuse',
    status: 429,
    message: 'Too many requests',
    headers: { 'retry-after': '1' },
  },
  Transient: { kind: 'refuse', status: 503, message: 'try again' },
  Refused: { kind: 'refuse', status: 418, message: 'a teapot' },
  Unknown: { kind: 'cut', done: false },
};

/** Answers that a site without users and policies cannot produce. */
const ORDER_FOR: Partial<Readonly<Record<Tag, Order>>> = {
  Unauthenticated: { kind: 'refuse', status: 401, message: 'Unauthorized' },
  Forbidden: {
    kind: 'refuse',
    status: 403,
    message: 'pods "p1" is forbidden: User "x" cannot create resource "pods/eviction"',
  },
  PolicyRefused: {
    kind: 'refuse',
    status: 403,
    message: 'admission webhook "guard" denied the request: no',
  },
};

const budgetsShowing = ({ need }: PodFacts): Budgets => {
  if (need._tag === 'None') return 'none';
  if (need._tag === 'One') return need.budget.endsWith('/other') ? 'openOther' : 'open';
  return { TwoBudgets: 'two', BudgetBroken: 'broken', BudgetNeverAllows: 'never' }[
    need.reason
  ] as Budgets;
};

interface Collections {
  readonly pods: ObservedCollection<NonNullable<ReturnType<typeof projectPod>>>;
  readonly budgets: ObservedCollection<NonNullable<ReturnType<typeof projectBudget>>>;
  readonly nodes: ObservedCollection<NonNullable<ReturnType<typeof projectDrainedNode>>>;
}

/** One pod that is being evicted. */
const runOf = (
  { site, line, services, names }: RunEnvironment,
  { pods, budgets, nodes }: Collections,
  { fixtures, drawn }: { readonly fixtures: PodFixtures; readonly drawn: PodEvictionInput },
): PathRun<World> => {
  const { namespace, uid } = fixtures;
  for (const name of ['db', 'other']) names.note(`${namespace}/${name}`, `ns/${name}`);
  const runtime = ManagedRuntime.make(
    podEvictionApiLayer(silentTelemetry).pipe(Layer.provide(services)),
  );
  const ignore = (): void => {};
  const machine = providePodEviction(runtime, {
    awaitDispatch: ignore,
    cancelDispatch: ignore,
    untilLastTryMs: () => Number.POSITIVE_INFINITY,
    leaveBackends: ignore,
    stayInBackends: ignore,
    reportAnswer: ignore,
    callOf: () => ({ namespace, name: 'p1', uid, graceSeconds: null, mayLeave: () => true }),
    inFlight: (eviction) => eviction,
  });
  let pod: 'living' | 'terminating' | 'finalizing' | 'gone' = 'living';
  let ending = false;
  /** Another actor of the process says so: the requester that the drain is. */
  let { intercepted, serving } = drawn.facts;

  const liveFacts = (facts: PodFacts): PodFacts =>
    facts.need._tag === 'One'
      ? {
        ...facts,
        need: { _tag: 'One', budget: facts.need.budget.replace('ns/', `${namespace}/`) },
      }
      : facts;
  const seenFacts = (): PodFacts | undefined => {
    const known = pods.get(objectKey('p1', namespace));
    if (known?.uid !== uid) return undefined;
    const covering = [...budgets.values()].filter((budget) => budgetCovers(budget, known));
    const silent = nodes.get(objectKey(fixtures.nodeName))?.kubeletSilent === true;
    return podFacts(known, covering, { kubeletSilent: silent, intercepted, serving });
  };

  const byServer = async (outcome: EvictionOutcome): Promise<boolean> => {
    const { _tag } = outcome;
    const wanted = BUDGETS_FOR[_tag];
    if (wanted !== undefined) await fixtures.budgets(wanted);
    if (_tag === 'Gone') await fixtures.remove();
    if (_tag === 'OtherPod') await fixtures.replace();
    if (_tag === 'Gone' || _tag === 'OtherPod') pod = 'gone';
    if (_tag === 'Accepted' && pod === 'living') pod = 'terminating';
    if (_tag === 'NamespaceTerminating' && !ending) {
      ending = true;
      await fixtures.endNamespace();
    }
    if (site.strangerToken === '') return ORDER_FOR[_tag] === undefined;
    if (_tag === 'PolicyRefused' || !ending) await fixtures.guard(_tag === 'PolicyRefused');
    if (_tag === 'Forbidden') {
      line.order({ kind: 'disguise', authorization: `Bearer ${site.strangerToken}` });
    }
    if (_tag === 'Unauthenticated') {
      line.order({ kind: 'disguise', authorization: 'Bearer nobody' });
    }
    return true;
  };
  const arrange = async (pathStep: PathStep<World>): Promise<StepSource> => {
    const outcome = outcomeIn(pathStep);
    if (outcome === undefined) throw new Error(`Nobody arranges "${pathStep.event.type}"`);
    if (outcome._tag === 'NotSent') {
      await line.disconnect();
      return 'line';
    }
    if (outcome._tag === 'Unknown' && mayBeDone(pathStep)) {
      await fixtures.budgets('open');
      pod = 'terminating';
      return loseAnswer({ line });
    }
    const order = ORDERS[outcome._tag];
    if (order !== undefined) {
      line.order(order);
      return 'line';
    }
    if (await byServer(outcome)) return 'server';
    const byLine = ORDER_FOR[outcome._tag];
    if (byLine !== undefined) line.order(byLine);
    return 'line';
  };

  /** The next event is the pod's termination, possibly caused by the call. */
  const mayBeDone = ({ rest }: PathStep<World>): boolean => {
    const next = rest.find(({ event }) => /^pod\.|^xstate\.done\./.test(event.type))?.event;
    const facts = next?.type === 'pod.observed' ? next['facts'] as PodFacts : undefined;
    return pod === 'living' && !ending && facts?.terminating === true && !facts.finalizers;
  };
  /** The next answer needs a pod that is there. */
  const needsPod = (
    { before, rest }: PathStep<World>,
    end: 'terminating' | 'gone',
  ): boolean => {
    if (!before.matches('calling')) return false;
    const next = rest.map(outcomeIn).find((outcome) => outcome !== undefined)?._tag;
    if (next === undefined) return false;
    return end === 'gone' ? !WITHOUT_POD.has(next) : NEEDS_LIVING.has(next);
  };
  const canShow = (facts: PodFacts, pathStep: PathStep<World>): boolean => {
    if (pod === 'gone' || ending) return false;
    if (!facts.terminating) return pod === 'living' && !facts.finalizers;
    return !needsPod(pathStep, 'terminating') && (pod !== 'finalizing' || facts.finalizers);
  };
  const show = async (facts: PodFacts): Promise<PodFacts> => {
    ({ intercepted, serving } = facts);
    await fixtures.silence(facts.kubeletSilent);
    if (!facts.terminating) await fixtures.budgets(budgetsShowing(facts));
    else if (facts.finalizers && pod !== 'finalizing') {
      await fixtures.terminate(0);
      pod = 'finalizing';
    } else if (pod === 'living') {
      await fixtures.terminate(30);
      pod = 'terminating';
    }
    const look = (): PodFacts | undefined => {
      const seen = seenFacts();
      return seen !== undefined && names.difference(seen, facts) === undefined ? seen : undefined;
    };
    return await Promise.race([pods.until(look), budgets.until(look), nodes.until(look)]);
  };
  const observe = async (
    pathStep: PathStep<World>,
  ): ReturnType<PathRun<World>['observe']> => {
    const { event } = pathStep;
    if (event.type === 'pod.vanished') {
      if (pod === 'gone' || needsPod(pathStep, 'gone')) return { event, by: 'hand' };
      await fixtures.remove();
      pod = 'gone';
      await pods.until(() => seenFacts() === undefined ? true : undefined);
      return { event, by: 'watch' };
    }
    if (event.type !== 'pod.observed') return { event, by: 'word' };
    const facts = event['facts'] as PodFacts;
    return canShow(facts, pathStep)
      ? { event: { ...event, facts: await show(facts) }, by: 'watch' }
      : { event: { ...event, facts: liveFacts(facts) }, by: 'hand' };
  };
  return {
    machine,
    input: { ...drawn, facts: liveFacts(drawn.facts) },
    arrange,
    observe,
    stop: async () => {
      await runtime.dispose();
      await fixtures.strike();
    },
  };
};

/** The harness of `podEviction`. */
export const podEvictionHarness: ClusterHarness<World> = {
  world: { ending: false },
  hindrance,
  follows: (world, step) =>
    outcomeIn(step)?._tag === 'NamespaceTerminating' ? { ending: true } : world,
  open: async ({ site, hand, source }) => {
    if (site.strangerToken !== '') await installPolicy(hand);
    const { environment: world, dispose } = liveEnvironment(source);
    const collections: Collections = {
      pods: await observeCollection(world, '/api/v1/pods', projectPod),
      budgets: await observeCollection(
        world,
        '/apis/policy/v1/poddisruptionbudgets',
        projectBudget,
      ),
      nodes: await observeCollection(world, '/api/v1/nodes', projectDrainedNode),
    };
    return {
      begin: async (environment, input) => {
        const fixtures = await podFixtures(hand, environment.number, 'pod-eviction');
        return runOf(environment, collections, { fixtures, drawn: input as PodEvictionInput });
      },
      close: async () => {
        for (const collection of Object.values(collections)) collection.stop();
        await dispose();
      },
    };
  },
};
