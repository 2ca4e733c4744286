/** What `tidegate maintenance` and `tidegate drain NODE` refuse before a cluster is asked. */
import { describe, expect, test } from 'vitest';
import {
  type DrainNodesRequest,
  drainQuestion,
} from '../../../src/cli/drain-node/drain-node-request.ts';
import { startQuestion } from '../../../src/cli/maintenance/maintenance-question.ts';
import type { MaintenanceStartRequest } from '../../../src/cli/maintenance/maintenance-request.ts';
import { DRAIN_DEFAULTS } from '../../support/drains/drain-nodes-defaults.ts';

const START: MaintenanceStartRequest = {
  name: 'kernel',
  nodes: 'node-1,node-2',
  selector: undefined,
  stage: 'Idle',
  reason: undefined,
  maxNodesAtOnce: undefined,
  podTypes: undefined,
  format: 'text',
  dryRun: 'none',
  wait: false,
  timeout: undefined,
  kubeconfig: undefined,
  context: undefined,
};

describe('maintenance start', () => {
  test('names become terms of matchFields, and flags become the spec', () => {
    const question = startQuestion({ ...START, maxNodesAtOnce: '25%', podTypes: 'Default' });
    const term = (name: string) => ({
      matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }],
    });
    expect(question).toMatchObject({
      spec: {
        nodeSelector: { nodeSelectorTerms: [term('node-1'), term('node-2')] },
        stage: 'Idle',
        maxNodesAtOnce: '25%',
        podTypes: ['Default'],
      },
    });
  });

  test('a label selector becomes one term', () => {
    expect(startQuestion({ ...START, nodes: undefined, selector: 'rack in (a,b),!old' }))
      .toMatchObject({
        spec: {
          nodeSelector: {
            nodeSelectorTerms: [{
              matchExpressions: [
                { key: 'rack', operator: 'In', values: ['a', 'b'] },
                { key: 'old', operator: 'DoesNotExist' },
              ],
            }],
          },
        },
      });
  });

  test.each<readonly [Partial<MaintenanceStartRequest>, string]>([
    [{ nodes: undefined }, 'Cannot start without nodes: write --nodes or --selector'],
    [{ selector: 'a=b' }, 'Cannot use --selector with --nodes'],
    [{ nodes: 'a,b,c,d,e,f,g,h,i,j,k' }, 'Cannot use --nodes with 11 names'],
    [{ stage: 'Drained' }, 'Cannot use --stage "Drained": unknown value; write one of Idle'],
    [{ maxNodesAtOnce: '0' }, 'Cannot use --max-nodes-at-once "0"'],
    [{ podTypes: 'Bare' }, 'Cannot use --pod-types "Bare"'],
    [{ name: 'Kernel' }, 'Cannot use <name> "Kernel"'],
    [{ wait: true, dryRun: 'server' }, 'Cannot use --wait with --dry-run'],
    [{ timeout: '1m' }, 'Cannot use --timeout without --wait'],
    [{ wait: true, timeout: 'soon' }, 'Cannot use --timeout "soon": it is not a duration'],
  ])('%j is refused in one line', (given, problem) => {
    const question = startQuestion({ ...START, ...given });
    expect(question).toContain(problem);
  });
});

const DRAIN: DrainNodesRequest = { ...DRAIN_DEFAULTS, nodes: ['node-7'] };

describe('drain NODE', () => {
  test('a node may be named as node/NAME, and a timeout of 0s is none', () => {
    expect(drainQuestion({ ...DRAIN, nodes: ['node/status', 'plan'], timeout: '0s' }))
      .toMatchObject({ nodes: ['status', 'plan'], timeoutMs: undefined });
  });

  test('pods and their grace are those of the flags', () => {
    const question = (given: Partial<DrainNodesRequest>) => drainQuestion({ ...DRAIN, ...given });
    expect(question({})).toMatchObject({ podConditions: [], graceSeconds: null });
    expect(question({ podSelector: '' })).toMatchObject({ podConditions: [] });
    expect(question({ podSelector: 'app=web,!old', gracePeriod: '30' })).toMatchObject({
      podConditions: [
        { key: 'app', operator: 'In', values: ['web'] },
        { key: 'old', operator: 'DoesNotExist', values: [] },
      ],
      graceSeconds: 30,
    });
    expect(question({ gracePeriod: '-5' })).toMatchObject({ graceSeconds: null });
  });

  test.each<readonly [Partial<DrainNodesRequest>, string]>([
    [{ nodes: [] }, 'Cannot start without <node>'],
    [{ selector: 'a=b' }, 'Cannot use --selector with names of nodes'],
    [{ nodes: [], selector: '' }, 'Cannot use --selector "": it selects every node'],
    [{ nodes: [], selector: ' ' }, 'Cannot use --selector " ": it selects every node'],
    [{ nodes: ['a/b/c'] }, 'Cannot drain "a/b/c": it is not the name of a node'],
    [{ disableEviction: true }, 'Cannot use --disable-eviction'],
    [{ gracePeriod: '30s' }, 'Cannot use --grace-period "30s"'],
    [{ gracePeriod: '0' }, 'Cannot use --grace-period "0"'],
    [{ podSelector: 'a b', dryRun: 'client' }, 'Cannot use --pod-selector "a b"'],
    [{ timeout: '10' }, 'Cannot use --timeout "10": it is not a duration'],
    [{ skipWaitSeconds: '1s' }, 'Cannot use --skip-wait-for-delete-timeout "1s"'],
    [{ chunkSize: 'all' }, 'Cannot use --chunk-size "all"'],
    [{ dryRun: 'true' }, 'Cannot use --dry-run "true": unknown value; write one of none, client'],
  ])('%j is refused in one line', (given, problem) => {
    expect(drainQuestion({ ...DRAIN, ...given })).toContain(problem);
  });
});
