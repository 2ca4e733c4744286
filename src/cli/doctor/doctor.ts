/**
 * `tidegate doctor`: checks everything that an operator needs, and says what to do.
 *
 * Promises: read-only, and no session with the shard; exit code 1 when a check failed, 4 when the
 * cluster cannot be reached, 2 for invalid arguments; a check that cannot be made is skipped.
 */
import { X509Certificate } from 'node:crypto';
import { Effect } from 'effect';
import { definitionsOf } from '../../api/definitions.ts';
import { textAt } from '../../domain/json.ts';
import type { KeyPair } from '../../domain/credentials.ts';
import { evictionsApiOf } from '../../domain/native-evictions/evictions-api.ts';
import { policiesFor } from '../../domain/operator-rights.ts';
import type { Time } from '../../domain/time.ts';
import { askedRights, reviewAccess } from '../../effects/access-reviews.ts';
import { credentialReader } from '../../effects/credentials.ts';
import { type DoctorSettings, doctorSettings } from '../../effects/doctor-options.ts';
import { chooseApi, servesApi } from '../../effects/evictions-api.ts';
import type { KubeApi, KubeFault } from '../../effects/kube-api.ts';
import { readObject } from '../../effects/object-reads.ts';
import { serverVersion } from '../../effects/server-version.ts';
import type { ProcessEnvironment } from '../../effects/settings.ts';
import { probeShard } from '../../effects/shard-probe.ts';
import {
  certificateFinding,
  clockFinding,
  definitionFinding,
  diagnosisText,
  evictionsApiFinding,
  type Finding,
  finding,
  hasFailed,
  leaseFinding,
  PAGES,
  policiesFinding,
  rightsFinding,
} from '../../view/diagnosis.ts';
import { answered, askCluster } from '../cluster-question.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import type { GivenFlags } from '../program.ts';
import { jsonText } from '../terminal/json-text.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Checking = Effect.Effect<readonly Finding[], KubeFault, KubeApi>;

const AT_ONCE = 8;

const versionCheck: Checking = Effect.map(serverVersion, (version) => {
  const check = 'api server';
  switch (version._tag) {
    case 'Supported':
      return [finding(check, 'ok', `Kubernetes ${version.version} answers`)];
    case 'TooOld':
      return [finding(check, 'failed', [version.why, 'Upgrade the cluster', PAGES.cluster])];
    case 'Unknown':
      return [finding(check, 'warning', version.why)];
  }
});

const rightsCheck = (settings: DoctorSettings): Checking => {
  const asked = askedRights(settings.roles, settings.lease.namespace);
  return Effect.forEach(
    asked,
    (one) => Effect.map(reviewAccess(one), (answer) => ({ ...one, answer })),
    { concurrency: AT_ONCE },
  ).pipe(Effect.map((answers) => {
    for (const { answer } of answers) {
      if (answer._tag === 'Unanswered') {
        return [
          finding('rights', 'skipped', `The API server refuses access reviews: ${answer.why}`),
        ];
      }
    }
    return [rightsFinding(asked.length, answers.filter(({ answer }) => answer._tag === 'Denied'))];
  }));
};

const CRD_PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Which API the requests are in, where their role is selected. */
const evictionsApiCheck = ({ roles, evictionsApi }: DoctorSettings): Checking =>
  !roles.includes('evictions') ? Effect.succeed([]) : Effect.map(
    Effect.all({ tidegate: servesApi('tidegate'), native: servesApi('native') }),
    (served) => [evictionsApiFinding(evictionsApiOf(evictionsApi, served), served)],
  );

/** What a cluster needs whose requests are in the API of Kubernetes. */
const withoutLifecycles = (roles: DoctorSettings['roles']) =>
  roles.filter((role) => role !== 'evictions');

/** The checks of our own custom resource, where the requests are in it. */
const ownRequestsCheck = (settings: DoctorSettings): Checking =>
  Effect.flatMap(chooseApi(settings.evictionsApi), ({ api }) => {
    const roles = api === 'native' ? withoutLifecycles(settings.roles) : settings.roles;
    if (roles.length === 0) return Effect.succeed([]);
    return Effect.map(
      Effect.all([definitionsCheck({ ...settings, roles }), policiesCheck({ ...settings, roles })]),
      (found) => found.flat(),
    );
  });

const definitionsCheck = ({ roles }: DoctorSettings): Checking =>
  Effect.forEach(
    definitionsOf(roles),
    (wanted) =>
      Effect.map(readObject(`${CRD_PATH}/${textAt(wanted, 'metadata', 'name') ?? ''}`), (read) => {
        if (read._tag !== 'Refused') {
          return definitionFinding(wanted, read._tag === 'Found' ? read.object : undefined);
        }
        const plural = textAt(wanted, 'spec', 'names', 'plural') ?? '';
        return finding(`crd ${plural}`, 'skipped', read.why);
      }),
    { concurrency: AT_ONCE },
  );

const ADMISSION = '/apis/admissionregistration.k8s.io/v1';

/** The policies that the selected roles rely on, and their bindings. */
const policiesCheck = ({ roles }: DoctorSettings): Checking => {
  const names = policiesFor(roles);
  if (names.length === 0) return Effect.succeed([]);
  const wanted = names.flatMap((name) => [
    { kind: 'ValidatingAdmissionPolicy', name, plural: 'validatingadmissionpolicies' },
    { kind: 'ValidatingAdmissionPolicyBinding', name, plural: 'validatingadmissionpolicybindings' },
  ]);
  return Effect.forEach(
    wanted,
    (one) =>
      Effect.map(
        readObject(`${ADMISSION}/${one.plural}/${one.name}`),
        (read) => ({ ...one, read }),
      ),
    { concurrency: AT_ONCE },
  ).pipe(Effect.map((reads) => {
    for (const { read } of reads) {
      if (read._tag === 'Refused') return [finding('policies', 'skipped', read.why)];
    }
    return [policiesFinding(reads.filter(({ read }) => read._tag === 'Absent'))];
  }));
};

/** The clock of the API server, as its answers had it. */
interface ServerClock {
  skewMs: number | undefined;
}

const leaseCheck = ({ lease }: DoctorSettings, nowMs: () => number): Checking =>
  readObject(`/apis/coordination.k8s.io/v1/namespaces/${lease.namespace}/leases/${lease.name}`)
    .pipe(Effect.map((read) => [
      read._tag === 'Refused'
        ? finding('lease', 'skipped', read.why)
        : leaseFinding(read._tag === 'Found' ? read.object : undefined, lease, nowMs()),
    ]));

const FLEET_URI = /URI:(bigfleet:\/\/[^,]+)/;

/** The key pair, and what is found about it. */
const certificateCheck = async (
  { certificate }: DoctorSettings,
  nowMs: number,
): Promise<{ readonly finding: Finding; readonly pair: KeyPair | undefined }> => {
  if (certificate === undefined) {
    const text = 'No --tls-cert: without it the operator starts only with --insecure-plaintext';
    return { finding: finding('certificate', 'skipped', text), pair: undefined };
  }
  const { files, cluster } = certificate;
  const reading = await Effect.runPromise(credentialReader()(files, cluster));
  if (reading._tag === 'Unusable') {
    const remedy = 'Issue a certificate for this cluster';
    return {
      finding: finding('certificate', 'failed', [reading.problem, remedy, PAGES.certificate]),
      pair: undefined,
    };
  }
  const parsed = new X509Certificate(reading.pair.certificate);
  return {
    pair: reading.pair,
    finding: certificateFinding({
      file: files.certificate,
      identity: FLEET_URI.exec(parsed.subjectAltName ?? '')?.[1] ?? '',
      expiresMs: Date.parse(parsed.validTo),
    }, nowMs),
  };
};

const shardCheck = async (
  { shardAddress: address, certificate }: DoctorSettings,
  pair: KeyPair | undefined,
): Promise<Finding> => {
  const check = 'shard';
  if (address === undefined) {
    return finding(check, 'skipped', 'No --shard-addr: the shard is not checked');
  }
  if (certificate !== undefined && pair === undefined) {
    return finding(check, 'skipped', `${address} is not dialled without a usable certificate`);
  }
  const probe = await Effect.runPromise(
    probeShard(pair === undefined ? { address } : { address, pair }),
  );
  const how = pair === undefined ? 'in plaintext' : 'with mTLS';
  return probe._tag === 'Reached'
    ? finding(check, 'ok', `${address} answers ${how}`)
    : finding(check, 'failed', [
      `${address} cannot be reached ${how}: ${probe.why}`,
      'Check the address, the network policies on the way, and that both sides use TLS or neither',
      PAGES.shard,
    ]);
};

/** Checks a cluster and a shard. */
export const runDoctor = async (
  flags: GivenFlags,
  processEnvironment: Pick<ProcessEnvironment, 'environment' | 'namespace'>,
  { terminal, time }: { readonly terminal: Terminal; readonly time: Pick<Time, 'now'> },
): Promise<ExitCode> => {
  const settled = doctorSettings(flags, processEnvironment);
  if (settled._tag === 'SettingsProblem') {
    terminal.report(settled.message);
    return EXIT.usage;
  }
  const { settings } = settled;
  const clock: ServerClock = { skewMs: undefined };
  const nowMs = (): number => time.now() + (clock.skewMs ?? 0);
  const checks: Checking = Effect.all(
    [
      versionCheck,
      evictionsApiCheck(settings),
      ownRequestsCheck(settings),
      rightsCheck(settings),
      leaseCheck(settings, nowMs),
    ],
  ).pipe(Effect.map((found) => found.flat()));
  const answer = await askCluster(
    settings,
    Effect.map(checks, answered),
    ({ serverMs, roundTripMs }) => {
      // The date of an answer has whole seconds.
      clock.skewMs = serverMs + 500 + roundTripMs / 2 - time.now();
    },
  );
  const certificate = await certificateCheck(settings, time.now());
  const shard = await shardCheck(settings, certificate.pair);
  const inCluster = answer._tag === 'Silent'
    ? [finding('api server', 'failed', [
      answer.why,
      'Check --kubeconfig and --context',
      PAGES.cluster,
    ])]
    : [...answer.value, clockFinding(clock.skewMs)];
  const findings = [...inCluster, certificate.finding, shard];
  terminal.print(
    settings.format === 'json'
      ? jsonText({ items: findings })
      : diagnosisText(findings, { columns: terminal.size().columns, colors: terminal.colors }),
  );
  if (answer._tag === 'Silent') return answer.code;
  return hasFailed(findings) ? EXIT.failure : EXIT.ok;
};
