/** `npm run demo:real`: the scenarios of `tidegate demo` on a real control plane, line by line. */
import { expect, test } from 'vitest';
import { realCluster } from '../../tools/demo/real-cluster.ts';
import { runDemo } from '../../src/cli/demo/demo.ts';
import { demoSiteOn } from '../../src/demo.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { describeWithBinaries } from '../support/api/testbed.ts';
import { PLAIN_TERMINAL } from '../support/terminal/plain-terminal.ts';

const PATIENT_MS = 400_000;
/** Its moment, who, and what. */
const LINE = /^ *\d+\.\d s {2}\S.{15} {2}\S/;

describeWithBinaries('a demo on a real control plane', () => {
  test('tells the story of the embedded one in its format', { timeout: PATIENT_MS }, async () => {
    let printed = '';
    const reported: string[] = [];
    const code = await runDemo(
      {
        scenario: 'scale-up',
        serve: false,
        inspectAddress: undefined,
        whenWatched: false,
        recordFile: undefined,
      },
      demoSiteOn(() => realCluster(() => {})),
      {
        time: realTime,
        terminal: {
          print: (text) => void (printed += text),
          report: (line) => void reported.push(line),
          ...PLAIN_TERMINAL,
        },
      },
    );
    expect([code, reported]).toEqual([0, []]);
    const [log = '', result = ''] = printed.split('\n\n');
    const lines = log.split('\n');
    expect(lines.filter((line) => !LINE.test(line))).toEqual([]);
    expect(lines.length).toBeLessThan(40);
    for (
      const part of [
        'kubectl create deployment web --replicas=12',
        '12 of 12 acknowledged by the fleet',
        '12 of 12 running',
        'kubectl scale deployment web --replicas=0',
        'returned to the fleet',
      ]
    ) expect(log).toContain(part);
    expect(result).toMatch(/^Scale-up, in \d+\.\d s$/);
    expect(printed).toContain(
      'Try next:\n  tidegate demo --scenario=scale-up --inspect-addr=:8772',
    );
  });
});
