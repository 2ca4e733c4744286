/**
 * One variant of holding a large list of pods, measured in its own process: `node --expose-gc
 * test/bench/list-variant.ts reflector|bytes|typed KUBECONFIG`. Prints JSON.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import process from 'node:process';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { Effect } from 'effect';
import { startInformer } from '../../src/actors/informers/informer.ts';
import type { Identity } from '../../src/domain/facts.ts';
import { textAt } from '../../src/domain/json.ts';
import { identityOf } from '../../src/domain/object-meta.ts';
import { realTime } from '../../src/effects/real-time.ts';
import { listPages } from '../../src/effects/watches.ts';
import { fileSource, liveEnvironment } from '../support/api/live-environment.ts';
import { pause } from '../support/eventually.ts';
import { collectGarbage } from './measurement.ts';

interface Pod extends Identity {
  readonly node: string;
  readonly phase: string;
}

const project = (raw: unknown): Pod | undefined => {
  const identity = identityOf(raw);
  return identity === undefined ? undefined : {
    ...identity,
    node: textAt(raw, 'spec', 'nodeName') ?? '',
    phase: textAt(raw, 'status', 'phase') ?? '',
  };
};

const PATH = '/api/v1/pods';

/** Returns the value to retain while memory is measured, with its number of objects. */
type Variant = (kubeconfig: string) => Promise<{ readonly size: number; readonly kept: unknown }>;

const VARIANTS: ReadonlyMap<string, Variant> = new Map<string, Variant>([
  ['reflector', async (kubeconfig) => {
    const { environment } = liveEnvironment(fileSource(kubeconfig));
    const reflector = startInformer(environment, { id: 'pods', path: PATH, project });
    await reflector.whenSynced;
    return { size: reflector.size, kept: reflector };
  }],
  ['bytes', async (kubeconfig) => {
    const { environment } = liveEnvironment(fileSource(kubeconfig));
    let size = 0;
    const pages = listPages({ path: PATH }, true, {
      addPage: (objects) => {
        size += objects.length;
      },
      dropPages: () => {},
      onTooLarge: () => {},
    });
    await environment.runtime.runPromise(Effect.asVoid(pages));
    return { size, kept: environment };
  }],
  ['typed', async (kubeconfig) => {
    const config = new KubeConfig();
    config.loadFromFile(kubeconfig);
    const list = await config.makeApiClient(CoreV1Api).listPodForAllNamespaces();
    return { size: list.items.length, kept: list };
  }],
]);

const [name = '', kubeconfig = ''] = process.argv.slice(2);
const variant = VARIANTS.get(name);
if (variant === undefined) throw new Error(`No way "${name}"`);
/** Lets the list's leftovers be collected, so that only retained objects count. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 3; turn += 1) {
    await pause(50);
    collectGarbage();
  }
};

await settle();
const before = process.memoryUsage();
const stalls = monitorEventLoopDelay({ resolution: 1 });
stalls.enable();
let peak = before.rss;
const sampling = (): void => {
  peak = Math.max(peak, process.memoryUsage.rss());
  cancel = realTime.schedule(5, sampling);
};
let cancel = realTime.schedule(5, sampling);
const startMs = realTime.monotonic();
const held = await variant(kubeconfig);
const ms = realTime.monotonic() - startMs;
stalls.disable();
cancel();
await settle();
const after = process.memoryUsage();
process.stdout.write(`${
  JSON.stringify({
    ms,
    size: held.size,
    peakBytes: Math.max(peak, after.rss) - before.rss,
    keptBytes: Math.max(0, after.heapUsed + after.external - before.heapUsed - before.external),
    stallMs: stalls.max / 1e6,
  })
}\n`);
process.exit(held.kept === undefined ? 1 : 0);
