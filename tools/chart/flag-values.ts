/**
 * The values `settings`: a key for each flag of the operator that the chart does not set itself.
 *
 * Promises: a new flag becomes a value by itself; key and flag are the same words, `maxDraining`
 * and `--max-draining`; what the schema accepts is what the program documents.
 */
import type { Option } from '../../src/effects/option-kinds.ts';
import { OPERATOR_OPTIONS } from '../../src/effects/operator-options.ts';
import { type ChartValue, type ChartValues, DURATION, type Schema, SWITCH } from './chart-value.ts';

/** Flags that the chart sets from other values: addresses, files, the Lease and the roles. */
const OWN_FLAGS: ReadonlySet<string> = new Set([
  'roles',
  'with-pods',
  'kubeconfig',
  'metrics-addr',
  'health-addr',
  'inspect-addr',
  'inspect-token-file',
  'bootstrap-template-file',
  'priority-class-defaults-file',
  'tls-cert',
  'tls-key',
  'tls-ca',
  'lease-name',
  'lease-namespace',
  'identity',
]);

const FILLED: Schema = { type: 'string', minLength: 1 };

/** Schemas by the placeholder that the help of a flag shows. */
const BY_PLACEHOLDER: Readonly<Record<string, Schema>> = {
  'true|false': SWITCH,
  NUMBER: { type: 'number', exclusiveMinimum: 0 },
  DURATION,
  'NUMBER|PERCENT': {
    anyOf: [
      { type: 'integer', minimum: 1, maximum: 999_999_999 },
      { type: 'string', pattern: '^(0*[1-9][0-9]{0,8}|0*([1-9][0-9]?|100)%)$' },
    ],
  },
};

const IS_CHOICE = /^[a-z][a-z.-]*(\|[a-z][a-z.-]*)+$/;

const schemaFor = ({ placeholder, range }: Option<unknown>): Schema => {
  if (range !== undefined) return { type: 'integer', minimum: range[0], maximum: range[1] };
  const known = BY_PLACEHOLDER[placeholder];
  if (known !== undefined) return known;
  return IS_CHOICE.test(placeholder) ? { enum: placeholder.split('|') } : FILLED;
};

const camelCase = (flag: string): string =>
  flag.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The default as the type of its schema. */
const typed = (text: string | undefined, { type }: Schema): unknown => {
  if (text === undefined) return undefined;
  if (type === 'boolean') return text === 'true';
  return type === 'number' || type === 'integer' ? Number(text) : text;
};

const EXAMPLES: Readonly<Record<string, unknown>> = {
  'cluster-id': 'my-cluster',
  'shard-addr': 'shard.example:7443',
  'inspect-hosts': 'tidegate.example',
  record: '/tmp/recording.jsonl',
  'otlp-endpoint': 'http://otel-collector.monitoring:4318',
  'tier-wait': '30s',
  'pod-selector': 'app=web,tier!=test',
  'namespace-selector': 'team=web',
  'eviction-request-ttl': '24h',
  'default-interceptors': 'surge.tidegate.dev',
};

const needed = ({ requiredWith }: Option<unknown>): string =>
  requiredWith === undefined ? '' : `, required with ${requiredWith}`;

const valueOf = (option: Option<unknown>): ChartValue => {
  const schema = schemaFor(option);
  return {
    description: `${option.help} (\`--${option.name}\`${needed(option)}).`,
    schema,
    example: typed(option.default, schema) ?? EXAMPLES[option.name] ?? '…',
  };
};

/** All settings, by key. */
export const SETTINGS: ChartValues = Object.fromEntries(
  Object.values<Option<unknown>>(OPERATOR_OPTIONS)
    .filter(({ name }) => !OWN_FLAGS.has(name))
    .map((option) => [camelCase(option.name), valueOf(option)]),
);
