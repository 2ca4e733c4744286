/**
 * What receives the signals of Tidegate in tests: promtool, Prometheus and an OpenTelemetry
 * Collector, built once from the Go module in `observability/`. It is a module of its own: its
 * dependencies are other releases than those of the control plane, and neither rebuilds the other.
 */
import { join } from 'node:path';
import { cacheFolder, environment } from './environment.ts';
import {
  builtOnce,
  type GoModule,
  goProblem,
  moduleFolder,
  type Print,
  printOnStderr,
  programOf,
  readModule,
} from './go-builds.ts';

const FOLDER = join(moduleFolder, 'observability');

/** Reads its lock. */
export const readObservabilityModule = (): Promise<GoModule> =>
  readModule(FOLDER, {
    name: 'Prometheus',
    release: /^\s*github\.com\/prometheus\/prometheus v(\S+)/m,
  });

/** Why these programs cannot be built here, in one sentence, or `undefined` when they can. */
export const observabilityProblem = async (): Promise<string | undefined> =>
  await goProblem(await readObservabilityModule());

/** Without the clients of clouds, which are most of it; the targets of tests are in its file. */
const WITHOUT_DISCOVERY = 'remove_all_sd';

const prometheusProgram = async (name: string, print: Print): Promise<string> => {
  const module = await readObservabilityModule();
  const target = join(cacheFolder(), module.key, name);
  await builtOnce(target, {
    module,
    what: `building ${name} (once, some minutes)`,
    packages: `github.com/prometheus/prometheus/cmd/${name}`,
    linker: '-s -w',
    tags: WITHOUT_DISCOVERY,
  }, { print, env: environment });
  return join(target, name);
};

/** The path of promtool, which checks and tests rules. */
export const promtool = (print: Print = printOnStderr): Promise<string> =>
  prometheusProgram('promtool', print);

/** The path of an OpenTelemetry Collector that receives OTLP and prints what it received. */
export const collector = async (print: Print = printOnStderr): Promise<string> =>
  await programOf(await readObservabilityModule(), { folder: '', name: 'collector', print });

/** The path of Prometheus, without its web page. */
export const prometheus = (print: Print = printOnStderr): Promise<string> =>
  prometheusProgram('prometheus', print);
