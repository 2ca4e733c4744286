/** `node tools/testbed/main.ts`: a test bed by hand, until Ctrl-C. */
import { parseArgs } from 'node:util';
import { TestbedUnavailable } from './go-builds.ts';
import { startTestbed } from './testbed.ts';

const USAGE = `Starts a Kubernetes control plane on this machine and runs it until Ctrl-C.

Usage: npx node tools/testbed/main.ts [flags]     (or: npx deno run -A tools/testbed/main.ts)

  --no-controllers     without kube-controller-manager
  --no-scheduler       without kube-scheduler
  --no-kwok            without kwok, which plays the kubelets of all Nodes
  --crds               install Tidegate's CRDs
  --pod-delete-ms N    how long a deleted pod takes to go (default 1000)
  --pod-ready-ms N     how long a scheduled pod takes to run (default 0)
  --node-ready-ms N    how long a new Node takes to become Ready (default 0)
  --help               this text

The path of the kubeconfig is the one line on stdout; everything else goes to stderr.
Programs are built once with Go, or taken from the folder in KUBEBUILDER_ASSETS.
`;

const EXIT_FAILURE = 1;
const EXIT_USAGE = 2;

const delayOf = (text: string | undefined, flag: string): number | undefined => {
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text)) throw new TypeError(`--${flag} needs a number of milliseconds`);
  return Number(text);
};

const readFlags = () => {
  const { values } = parseArgs({
    allowNegative: true,
    options: {
      controllers: { type: 'boolean', default: true },
      scheduler: { type: 'boolean', default: true },
      kwok: { type: 'boolean', default: true },
      crds: { type: 'boolean', default: false },
      'pod-delete-ms': { type: 'string' },
      'pod-ready-ms': { type: 'string' },
      'node-ready-ms': { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const podDeleteMs = delayOf(values['pod-delete-ms'], 'pod-delete-ms');
  const podReadyMs = delayOf(values['pod-ready-ms'], 'pod-ready-ms');
  const nodeReadyMs = delayOf(values['node-ready-ms'], 'node-ready-ms');
  const { controllers, scheduler, kwok } = values;
  return {
    help: values.help,
    crds: values.crds,
    options: {
      controllers,
      scheduler,
      kwok,
      ...(podDeleteMs === undefined ? {} : { podDeleteMs }),
      ...(podReadyMs === undefined ? {} : { podReadyMs }),
      ...(nodeReadyMs === undefined ? {} : { nodeReadyMs }),
    },
  };
};

const interrupted = (): Promise<void> =>
  new Promise((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
  });

const run = async (): Promise<number> => {
  let flags: ReturnType<typeof readFlags>;
  try {
    flags = readFlags();
  } catch (problem) {
    process.stderr.write(`${problem instanceof Error ? problem.message : problem}\n`);
    return EXIT_USAGE;
  }
  if (flags.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  // Handles signals from here on, so that Ctrl-C during the start stops cleanly as well.
  const asked = interrupted();
  const bed = await startTestbed(flags.options);
  try {
    if (flags.crds) await bed.installCrds();
    process.stdout.write(`${bed.kubeconfig}\n`);
    process.stderr.write(`testbed: export KUBECONFIG=${bed.kubeconfig} (Ctrl-C ends it)\n`);
    await asked;
  } finally {
    await bed.stop();
  }
  return 0;
};

try {
  process.exitCode = await run();
} catch (problem) {
  if (!(problem instanceof TestbedUnavailable)) throw problem;
  process.stderr.write(`testbed: ${problem.message}\n`);
  process.exitCode = EXIT_FAILURE;
}
