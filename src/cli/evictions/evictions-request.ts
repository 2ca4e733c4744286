/** The requests of `tidegate evict` and `tidegate evictions` as plain values. */
import { Option } from 'effect';
import { Flag } from 'effect/cli';
import {
  EVICTIONS_APIS,
  type EvictionsApiOption,
} from '../../domain/native-evictions/evictions-api.ts';
import {
  chosenCluster,
  CLUSTER_FLAGS,
  optionalText,
  type ParsedCluster,
  requiredText,
  switchFlag,
} from '../cluster-flags.ts';
import type { ChosenCluster } from '../cluster-question.ts';

/** Formats of `evictions`. */
export const EVICTIONS_FORMATS = ['table', 'wide', 'name', 'json', 'yaml'] as const;

/** Formats of `evict`. */
export const EVICT_FORMATS = ['text', 'name', 'json', 'yaml'] as const;
export type EvictFormat = (typeof EVICT_FORMATS)[number];

interface OfCluster extends ChosenCluster {
  /** Which API has the requests. */
  readonly api: string;
}

/** The API of a request; undefined when it is none. */
export const evictionsApiIn = ({ api }: Pick<OfCluster, 'api'>): EvictionsApiOption | undefined =>
  EVICTIONS_APIS.find((one) => one === api);

const API_FLAG = optionalText(
  'eviction-request-api',
  EVICTIONS_APIS.join('|'),
  'Which API has the requests, as of the operator (default auto)',
);

/** A request for a list, not yet validated. */
export interface EvictionsRequest extends OfCluster {
  readonly namespace: string | undefined;
  readonly allNamespaces: boolean;
  /** A label selector of the pods, in the syntax of kubectl. */
  readonly selector: string | undefined;
  readonly format: string;
  readonly watch: boolean;
}

/** A request for an eviction, not yet validated. */
export interface EvictRequest extends OfCluster {
  /** `NAMESPACE/NAME`, or `NAME`. */
  readonly pod: string;
  readonly namespace: string | undefined;
  readonly requester: string;
  readonly wait: boolean;
  /** A Go duration. */
  readonly timeout: string | undefined;
  readonly cancel: boolean;
  readonly format: string;
}

/** Flags of `evictions`, as in kubectl. */
export const EVICTIONS_FLAGS = {
  namespace: optionalText('namespace', 'NAME', 'Namespace to list (default "default")')
    .pipe(Flag.withAlias('n')),
  allNamespaces: switchFlag('all-namespaces', 'List all namespaces').pipe(Flag.withAlias('A')),
  selector: optionalText('selector', 'SELECTOR', 'Label selector of the pods, as in kubectl')
    .pipe(Flag.withAlias('l')),
  output: optionalText(
    'output',
    EVICTIONS_FORMATS.join('|'),
    'Format of the answer (default table)',
  ).pipe(Flag.withAlias('o')),
  watch: switchFlag('watch', 'Keep watching and print changes').pipe(Flag.withAlias('w')),
  api: API_FLAG,
  ...CLUSTER_FLAGS,
};

/** Flags of `evict`. */
export const EVICT_FLAGS = {
  requester: requiredText(
    'requester',
    'NAME',
    'Who asks: a domain name of three labels or more',
  ),
  wait: switchFlag('wait', 'Wait until the pod has left, and print the progress'),
  timeout: optionalText('timeout', 'DURATION', 'How long to wait (default without end)'),
  cancel: switchFlag('cancel', 'Withdraw: this requester asks no more'),
  namespace: optionalText('namespace', 'NAME', 'Namespace of a pod named without one')
    .pipe(Flag.withAlias('n')),
  output: optionalText('output', EVICT_FORMATS.join('|'), 'Format of the answer (default text)')
    .pipe(Flag.withAlias('o')),
  api: API_FLAG,
  ...CLUSTER_FLAGS,
};

interface ParsedApi extends ParsedCluster {
  readonly api: Option.Option<string>;
}

const clusterOf = (parsed: ParsedApi): OfCluster => ({
  api: Option.getOrElse(parsed.api, () => 'auto'),
  ...chosenCluster(parsed),
});

/** The parsed command line of `evictions`. */
export const evictionsRequest = (
  parsed: ParsedApi & {
    readonly namespace: Option.Option<string>;
    readonly allNamespaces: boolean;
    readonly selector: Option.Option<string>;
    readonly output: Option.Option<string>;
    readonly watch: boolean;
  },
): EvictionsRequest => ({
  ...clusterOf(parsed),
  namespace: Option.getOrUndefined(parsed.namespace),
  allNamespaces: parsed.allNamespaces,
  selector: Option.getOrUndefined(parsed.selector),
  format: Option.getOrElse(parsed.output, () => 'table'),
  watch: parsed.watch,
});

/** The parsed command line of `evict`. */
export const evictRequest = (
  parsed: ParsedApi & {
    readonly pod: string;
    readonly namespace: Option.Option<string>;
    readonly requester: string;
    readonly wait: boolean;
    readonly timeout: Option.Option<string>;
    readonly cancel: boolean;
    readonly output: Option.Option<string>;
  },
): EvictRequest => ({
  ...clusterOf(parsed),
  pod: parsed.pod,
  namespace: Option.getOrUndefined(parsed.namespace),
  requester: parsed.requester,
  wait: parsed.wait,
  timeout: Option.getOrUndefined(parsed.timeout),
  cancel: parsed.cancel,
  format: Option.getOrElse(parsed.output, () => 'text'),
});
