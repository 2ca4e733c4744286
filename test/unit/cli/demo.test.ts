/** `tidegate demo`: when a scenario begins, and when it is refused. */
import { expect, test } from 'vitest';
import { runDemo } from '../../../src/cli/demo/demo.ts';
import type { DemoRequest } from '../../../src/cli/demo/demo-request.ts';
import type { DemoSite } from '../../../src/cli/demo/demo-site.ts';
import { EXIT } from '../../../src/cli/exit-codes.ts';
import { simulatedTime } from '../../support/time/simulated-time.ts';
import { PLAIN_TERMINAL } from '../../support/terminal/plain-terminal.ts';

const REQUEST: DemoRequest = {
  scenario: 'outage',
  serve: false,
  inspectAddress: ':8772',
  whenWatched: true,
  recordFile: undefined,
};

const quietly = (lines: string[]) => ({
  print: (text: string) => void lines.push(text),
  report: (line: string) => void lines.push(line),
  ...PLAIN_TERMINAL,
});

/** An environment in which only the scenario acts. */
const emptySite = (more: Partial<DemoSite>): DemoSite => ({
  kubeconfig: '/kubeconfig',
  page: () => undefined,
  list: () => [],
  apply: () => {},
  ask: () => {},
  silence: () => {},
  fleet: {
    bound: () => [],
    reclaim: () => {},
    returnMachine: () => {},
    stop: () => Promise.resolve(),
    start: () => Promise.resolve(),
  },
  failure: () => undefined,
  stop: () => Promise.resolve(),
  ...more,
});

test('a scenario begins when its page is open, and not before', async () => {
  const time = simulatedTime();
  const page = { url: 'http://127.0.0.1:8772/', isOpened: false };
  let failure: string | undefined;
  const asked: string[] = [];
  const site = emptySite({
    page: () => page,
    ask: (_method, path) => {
      asked.push(path);
      failure = 'the operator ended';
    },
    failure: () => failure,
  });
  const lines: string[] = [];
  const ended = runDemo(REQUEST, () => Promise.resolve(site), {
    terminal: quietly(lines),
    time,
  });
  await time.advance(3_600_000);
  expect(asked).toEqual([]);
  expect(lines.join('')).toContain(`Open ${page.url} in a browser to begin.`);
  page.isOpened = true;
  await time.advance(1000);
  expect(asked).toEqual(['/apis/apps/v1/namespaces/default/deployments']);
  expect(await ended).toBe(EXIT.failure);
  expect(lines.at(-1)).toBe('Scenario failed: the operator ended');
});

test('a scenario without a page to watch is refused before anything starts', async () => {
  const lines: string[] = [];
  const code = await runDemo(
    { ...REQUEST, inspectAddress: undefined },
    () => Promise.reject(new Error('started')),
    { terminal: quietly(lines), time: simulatedTime() },
  );
  expect([code, lines]).toEqual([EXIT.usage, [
    'Cannot use --when-watched without a live page: add --inspect-addr=:8772',
  ]]);
});
