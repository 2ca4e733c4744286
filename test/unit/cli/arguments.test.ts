/** Arguments: every command line of the Go operator, and of the Go pod controller, works. */
import { expect, test } from 'vitest';
import { normalizedArguments } from '../../../src/cli/arguments.ts';

test.each([
  [['-cluster-id', 'a', '-shard-addr=b:1'], ['operator', '--cluster-id', 'a', '--shard-addr=b:1']],
  [['--cluster-id=a'], ['operator', '--cluster-id=a']],
  [['operator', '-qps', '50'], ['operator', '--qps', '50']],
  [['fleet', '-listen=:1'], ['fleet', '--listen=:1']],
  [['explain', 'cr', 'a/b', '-n', 'x', '-o', 'json'], [
    'explain',
    'cr',
    'a/b',
    '-n',
    'x',
    '-o',
    'json',
  ]],
  [['pods', '--priority-class-defaults=a.yaml'], ['pods', '--priority-class-defaults-file=a.yaml']],
  [['pods', '-priority-class-defaults', 'a.yaml', '-metrics-addr=:1'], [
    'pods',
    '--priority-class-defaults-file',
    'a.yaml',
    '--metrics-addr=:1',
  ]],
  [['pods', '--priority-class-defaults-file=b'], ['pods', '--priority-class-defaults-file=b']],
  [['-help'], ['--help']],
  [['-h'], ['-h']],
  [['--version'], ['--version']],
  [['--cluster-id=a', '--help'], ['operator', '--cluster-id=a', '--help']],
  [[], []],
  [['operator', '--', '-cluster-id'], ['operator', '--', '-cluster-id']],
])('arguments %j are read as %j', (given, read) => {
  expect(normalizedArguments(given)).toEqual(read);
});
