/**
 * `tidegate drain status --watch` in a pipe, over a scripted API server.
 *
 * Regression: only a terminal was refreshed without a change in the cluster, so that a pipe never
 * got a state that time alone brings.
 */
import { afterEach, expect, test } from 'vitest';
import { followDrains } from '../../../src/cli/drain/drain-following.ts';
import { runDrainStatus } from '../../../src/cli/drain/drain-status.ts';
import { textAt } from '../../../src/domain/json.ts';
import { realTime } from '../../../src/effects/real-time.ts';
import { json, startStubApi, type StubApi } from '../../support/api/stub-api.ts';
import { rawSceneNode, sceneAnnotation } from '../../support/drains/drain-scene.ts';
import { PLAIN_TERMINAL } from '../../support/terminal/plain-terminal.ts';

/** Longer than any machine takes for the test. */
const DEADLINE_MS = 3_600_000;

const apis: StubApi[] = [];

afterEach(async () => {
  for (const api of apis.splice(0)) await api.stop();
});

test('a drain whose deadline passes without a change is printed as overdue', async () => {
  let aheadMs = 0;
  // Its clocks alone: a timer that is due for another reason lists the drains again.
  const time = {
    ...realTime,
    now: () => realTime.now() + aheadMs,
    monotonic: () => realTime.monotonic() + aheadMs,
  };
  const sinceMs = time.now();
  const reclaim = sceneAnnotation({ sinceMs, deadlineMs: sinceMs + DEADLINE_MS });
  const node = rawSceneNode({ cordons: { reclaim } });
  const api = await startStubApi(({ path, query }, response) => {
    if (query.has('watch')) return response.writeHead(200).flushHeaders();
    const items = path === '/api/v1/nodes' ? [node] : [];
    json(response, 200, { metadata: { resourceVersion: '10' }, items });
  });
  apis.push(api);
  const { promise: readerGone, resolve: leave } = Promise.withResolvers<void>();
  const states: (string | undefined)[] = [];
  const terminal = {
    ...PLAIN_TERMINAL,
    print: (text: string) => {
      states.push(textAt(JSON.parse(text), 'state'));
      if (states.length === 1) aheadMs = DEADLINE_MS;
      else leave();
    },
    report: () => {},
    readerGone,
  };
  const kubeconfig = api.source._tag === 'File' ? api.source.path : undefined;
  const chosen = { kubeconfig, context: undefined, selector: undefined };
  const code = await runDrainStatus(
    { nodes: [], format: 'json', watch: true, ...chosen },
    { terminal, time, follow: followDrains },
  );
  expect([code, states]).toEqual([0, ['Draining', 'Overdue']]);
});
