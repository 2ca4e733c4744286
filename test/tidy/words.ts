/** Calls and words that stand in one place only, or nowhere. */
import { lineAt, type Rule, SHIPPED, type SourceFile, type Violation } from './source-file.ts';

/** A pattern that may occur only in some files. */
interface Ban {
  readonly what: string;
  readonly pattern: RegExp;
  readonly remedy: string;
  /** Files where it is allowed, each with its reason. */
  readonly allowed: Readonly<Record<string, string>>;
  /** Which files the ban is about. */
  readonly scope: RegExp;
  readonly planted: Rule['planted'];
}

const SOURCE = SHIPPED;
const EVERYWHERE = /^(?:src|packages|test|tools)\//;
/** Tests that never wait: everything timed runs on simulated clocks. */
const TIMELESS = /^(?:src|packages|test\/(?:unit|models))\//;

/** What the operator is made of: its domain, its API group, its JSON. */
const OPERATOR = /^src\//;

const source = (line: string): Rule['planted'] => ({
  path: 'src/domain/planted.ts',
  text: `/** Planted. */\n${line}\n`,
});

const CALLS: readonly Ban[] = [
  {
    what: 'reading a clock',
    pattern: /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(|\bprocess\.(?:hrtime|uptime)\b/g,
    remedy: 'Take the time from a Time (src/domain/time.ts) or from the event',
    allowed: {
      'src/effects/real-time.ts': 'the one place that reads the clocks',
      'packages/interceptor/src/real-time.ts': 'the clock of a process with an interceptor',
    },
    scope: SOURCE,
    planted: source('export const now = Date.now();'),
  },
  {
    what: 'a timer',
    pattern: /\bset(?:Timeout|Interval)\(|\bscheduler\.wait\(/g,
    remedy: 'Schedule with a Time (src/domain/time.ts), or wait in a state with a named delay',
    allowed: {
      'src/effects/real-time.ts': 'the one place that arms timers',
      'src/web/page/event-stream.ts': 'runs in a browser, which has no Time',
      'packages/interceptor/src/real-time.ts': 'arms those of a process with an interceptor',
    },
    scope: TIMELESS,
    planted: source('setTimeout(() => {}, 10);'),
  },
  {
    what: 'a wait for time to pass',
    pattern: /\bpause\(\w/g,
    remedy: 'Wait for an event (eventually), or put a clock forward',
    allowed: {
      'test/support/api/contract-bed.ts': 'what a contract waits between two looks at a cluster',
      'test/support/api/cluster-connection.ts': 'until it watches again',
    },
    scope: /^test\/(?:integration|e2e|support|contract)\//,
    planted: { path: 'test/e2e/planted.test.ts', text: '/** x */\nawait pause(500);\n' },
  },
  {
    what: 'a turn of the event loop',
    pattern: /\bsetImmediate\(/g,
    remedy: 'Let the code run when what it waits for has happened',
    allowed: {
      'packages/embedded-kubernetes/src/values/simulated-time.ts': 'lets promises settle',
      'src/observability/metrics.ts': 'scrapes that arrive in one turn share one text',
    },
    scope: SOURCE,
    planted: source('setImmediate(() => {});'),
  },
  {
    what: 'chance',
    pattern: /\bMath\.random\(|\brandomBytes\(|\brandomUUID\(|\bgetRandomValues\(/g,
    remedy: 'Draw from a seed (src/domain/random.ts), so that a run can be repeated',
    allowed: {
      'src/effects/settings.ts': 'tells two processes of one host apart',
      'src/cli/operator/first-seed.ts': 'seeds the jitter of a process',
      'packages/interceptor/src/real-time.ts': 'seeds the jitter of a process',
      'packages/stand-in-fleet/src/run.ts': 'seeds the stand-in fleet of a process',
      'packages/embedded-kubernetes/src/run.ts': 'makes a token that nobody can guess',
      'packages/embedded-kubernetes/src/http/certificates.ts': 'gives a certificate its number',
    },
    scope: SOURCE,
    planted: source('export const chance = Math.random();'),
  },
  {
    what: 'the environment of the process',
    pattern: /\bprocess\.env\b|\bDeno\.env\b/g,
    remedy: 'Add an option (src/effects/operator-options.ts) and take it from the settings',
    allowed: {
      'src/effects/settings.ts': 'decodes all configuration',
      'src/effects/api-identity.ts': 'Kubernetes names the server of a pod there',
    },
    scope: SOURCE,
    planted: source("export const home = process.env['HOME'];"),
  },
  {
    what: 'the console',
    pattern: /\bconsole\./g,
    remedy: 'Use Telemetry (src/api/telemetry.ts), or the Terminal of a command',
    allowed: {},
    scope: SOURCE,
    planted: source("console.log('x');"),
  },
  {
    what: 'a loop or daemon of Effect',
    pattern: /\bEffect\.(?:forever|forkDaemon|forkDetach|repeat)\(/g,
    remedy: 'What waits or repeats is a state of a machine (src/machines/)',
    allowed: {},
    scope: SOURCE,
    planted: source('Effect.forever(beat);'),
  },
  {
    what: 'a retry of RxJS',
    pattern: /\b(?:retry|retryWhen)\(\s*[{)\d]/g,
    remedy: 'Whether to try again is decided by a machine (src/machines/)',
    allowed: {},
    scope: /^src\/(?:streams|actors)\//,
    planted: { path: 'src/streams/planted.ts', text: '/** x */\nsource.pipe(retry(3));\n' },
  },
  {
    what: 'an actor of its own',
    pattern: /\bcreateActor\b|\b(?:environment|#environment)\.actor\(/g,
    remedy: 'Make it a kind of the actor registry, which restarts, counts, passivates and stops it',
    allowed: {
      'src/actors/actor-environment.ts': 'makes every actor',
      'src/actors/actor-registry.ts': 'keeps every actor',
      'src/actors/operator.ts': 'the root actor; the process ends when it crashes',
    },
    scope: /^src\/actors\//,
    planted: {
      path: 'src/actors/planted.ts',
      text: "/** x */\nconst actor = environment.actor(nodeDrain, 'nodeDrain/a', {});\n",
    },
  },
  {
    what: 'a timer or a count of crashes beside the actor registry',
    pattern: /\btime\.schedule\(|\btidegate_actor_defects_total\b|\bRESTART_MS\b/g,
    remedy: 'Wait in a state with a named delay; the actor registry restarts and counts crashes',
    allowed: {
      'src/actors/actor-environment.ts': "XState's and RxJS's clocks",
      'src/actors/actor-registry.ts': 'counts every crash',
    },
    scope: /^src\/actors\//,
    planted: {
      path: 'src/actors/planted.ts',
      text: '/** x */\nenvironment.time.schedule(30_000, restart);\n',
    },
  },
  {
    what: 'something of Deno alone',
    pattern: /\bDeno\.(?!env\b)[a-z]/g,
    remedy: "Use Node's modules: they run on both runtimes",
    allowed: {},
    scope: SOURCE,
    planted: source("export const text = Deno.readTextFileSync('x');"),
  },
  {
    what: 'text that is cut by hand',
    pattern: /\.(?:slice|substring)\(0, \w*(?:CHAR|TEXT|WORD|QUOTE|ECHO|SUBJECT)\w*\)/g,
    remedy: 'Use cutText (src/domain/text.ts): half a surrogate pair comes back as U+FFFD',
    allowed: { 'src/effects/events.ts': 'cuts the name of an object, which is ASCII' },
    scope: OPERATOR,
    planted: source('export const note = text.slice(0, NOTE_CHARS_MAX);'),
  },
  {
    what: 'values that are compared as JSON text',
    pattern: /\bJSON\.stringify\([^()]*\) *[!=]==|[!=]== *JSON\.stringify\(/g,
    remedy: 'Use sameJson (src/domain/json-equality.ts): the order of keys says nothing',
    allowed: {},
    scope: OPERATOR,
    planted: source('export const same = JSON.stringify(a) === JSON.stringify(b);'),
  },
];

const SYNTAX: readonly Ban[] = [
  {
    what: 'a default export',
    pattern: /^export default\b|\bas default\b/gm,
    remedy: 'Export it by its name',
    allowed: {},
    scope: EVERYWHERE,
    planted: source('export default 1;'),
  },
  {
    what: 'a barrel',
    pattern: /^export \*/gm,
    remedy: 'Import from the file that has it',
    allowed: {},
    scope: EVERYWHERE,
    planted: source("export * from './time.ts';"),
  },
  {
    what: 'an enum',
    pattern: /^\s*(?:export )?(?:declare )?(?:const )?enum\s+\w/gm,
    remedy: 'Use a union of literals: enums do not erase',
    allowed: {},
    scope: EVERYWHERE,
    planted: source('export enum Light { Red }'),
  },
  {
    what: 'a namespace',
    pattern: /^\s*(?:export )?(?:declare )?(?:namespace|module)\s+[\w"']/gm,
    remedy: 'Use a file: namespaces do not erase',
    allowed: {},
    scope: EVERYWHERE,
    planted: source('namespace Lights {}'),
  },
  {
    what: 'a parameter property',
    pattern:
      /\bconstructor\s*\((?:[^)]*,)?\s*(?:(?:private|public|protected|readonly)\s+)+\w+\s*[?:]/g,
    remedy: 'Declare the field and assign it: parameter properties do not erase',
    allowed: {},
    scope: EVERYWHERE,
    planted: source('class Light { constructor(private readonly on: boolean) {} }'),
  },
  {
    what: 'the type any',
    pattern: /(?:[:<,|&(]|\bas)\s*any\b(?!\s*[:(])|\bany\[\]/g,
    remedy: 'Say what it is, or take unknown and read it (src/domain/json.ts)',
    allowed: {},
    scope: EVERYWHERE,
    planted: source('export const read = (value: any) => value;'),
  },
  {
    what: 'a non-null assertion',
    pattern: /[\w)\]]!(?=[.;,)\]\s[])(?!\s*=)/g,
    remedy: 'Handle the case that there is none',
    allowed: {},
    scope: EVERYWHERE,
    planted: source('export const first = list[0]!;'),
  },
  {
    what: 'a cast through unknown',
    pattern: /\bas unknown as\b|\bas never\b/g,
    remedy: 'Read the value (src/domain/json.ts) or fix the type',
    allowed: {},
    scope: SOURCE,
    planted: source('export const light = value as unknown as Light;'),
  },
];

const found = (file: SourceFile, text: string, ban: Ban): readonly Violation[] => {
  if (!ban.scope.test(file.path) || Object.hasOwn(ban.allowed, file.path)) return [];
  return [...text.matchAll(ban.pattern)].map((match) => ({
    path: file.path,
    line: lineAt(text, match.index),
    problem: `It has ${ban.what}: "${match[0].trim()}"`,
    remedy: ban.remedy,
  }));
};

const inCode = (ban: Ban): Rule => ({
  title: `no file has ${ban.what}${
    Object.keys(ban.allowed).length === 0 ? '' : ' outside its one place'
  }`,
  check: (file) => found(file, file.code, ban),
  planted: ban.planted,
});

// Written in two parts: this file is looked through as well.
const LEFT_OVER = new RegExp(`\\b(?:${'TO'}${'DO'}|${'FIX'}${'ME'}|${'XX'}${'X'}|HACK)\\b`, 'g');

const leftOvers: Ban = {
  what: 'a left-over note',
  pattern: LEFT_OVER,
  remedy: 'Do it now, or open an issue',
  allowed: {},
  scope: EVERYWHERE,
  planted: source(`// ${'TO'}${'DO'}: later`),
};

const COMMENTED_OUT =
  /^\s*\/\/\s*(?:(?:const|let|import|export|return|await|if \(|for \(|function)\b.*[;{]|[\w.]+\(.*\);)\s*$/gm;

const commentedOut: Ban = {
  what: 'code that is commented out',
  pattern: COMMENTED_OUT,
  remedy: 'Delete it: the history keeps it',
  allowed: {},
  scope: EVERYWHERE,
  planted: source('// const light = turnOn();'),
};

const SILENCED = /@ts-(?:ignore|nocheck|expect-error)\b/g;

const silenced: Ban = {
  what: 'a silenced type checker',
  pattern: SILENCED,
  remedy: 'Fix the type',
  allowed: {},
  scope: EVERYWHERE,
  planted: source(`// @ts-${'ignore'}`),
};

/** The folders in which somebody's checkout or home may lie. */
const ownFolder: Ban = {
  what: 'a path of one machine',
  pattern: /(?<![\w.])\/(?:home|root|work|Users)\/\w+/g,
  remedy: 'Make the path from import.meta.url, or take it as an option',
  allowed: {},
  scope: EVERYWHERE,
  planted: source(`export const path = '/${'home'}/me/project';`),
};

const apiGroup: Ban = {
  what: 'the API group in a literal',
  pattern: /(?:['"]|['"`]\/apis\/)bigfleet\.lucy\.sh\b/g,
  remedy: 'Use the constants of src/domain/api-group.ts',
  allowed: { 'src/domain/api-group.ts': 'the one place that names it' },
  scope: OPERATOR,
  planted: source("export const path = '/apis/bigfleet.lucy.sh/v1alpha1/things';"),
};

/** Rules about words and calls. */
export const WORD_RULES: readonly Rule[] = [
  ...[...CALLS, ...SYNTAX].map(inCode),
  ...[leftOvers, commentedOut, silenced].map((ban): Rule => ({
    title: `no file has ${ban.what}`,
    check: (file) => found(file, file.comments, ban),
    planted: ban.planted,
  })),
  {
    title: `no file has ${ownFolder.what}`,
    check: (file) => found(file, file.text, ownFolder),
    planted: ownFolder.planted,
  },
  {
    title: `no file has ${apiGroup.what} outside its one place`,
    check: (file) => found(file, file.text, apiGroup),
    planted: apiGroup.planted,
  },
];
