/** The retired names with their successors, as data. */

/** Names that must not come back. */
export interface RetiredNames {
  /**
   * Each as the words of a name: `voice` is found anywhere in it; `=later` is the whole name;
   * `take~` begins and `~parts` ends a name that has more words; `/shelf` is the name of a folder
   * or file.
   */
  readonly retired: readonly string[];
  readonly use: string;
  /** Folders where it is the right word. */
  readonly allowed?: readonly string[];
}

/** What is retired, in groups that have one successor. */
export const RETIRED_NAMES: readonly RetiredNames[] = [
  { retired: ['voice', 'voices', '~words'], use: '"…Events", "…Actions" or "…Text"' },
  { retired: ['deeds', 'doings', 'acts'], use: '"…Actions" or "…-actor.ts"' },
  { retired: ['/~terms'], use: '"…-context"' },
  {
    retired: ['population', 'populations', 'roster', 'rosters', '~member', '~members'],
    use: '"ActorRegistry", "…Index" or "…Entry"',
  },
  { retired: ['house', 'houses'], use: '"process"' },
  {
    retired: ['quiet', 'stir', 'sleep', 'sleeps', 'asleep', 'wake', 'wakes', 'awake'],
    use: '"passivate", "activate", "passive" or "schedule"',
  },
  {
    retired: ['turns', 'ask-for-turn', 'await-turn', 'turn-granted'],
    use: '"ConcurrencyLimit" and "slot"',
  },
  {
    retired: ['door', 'doors', 'doorkeeper', '=through', '=outside', 'come-back', 'let-out'],
    use: '"inFlight", "KubernetesClientPool" or "precondition"',
  },
  {
    retired: ['world', 'worlds'],
    use: '"…Environment"',
    allowed: [
      ...['test/simulation/', 'test/unit/simulation/', 'test/models/'],
      'test/unit/interceptor/charts.test.ts',
      'test/integration/models-cluster.test.ts',
    ],
  },
  { retired: ['surroundings'], use: '"ProcessEnvironment"' },
  { retired: ['seam', 'seams'], use: '"actor-logic"' },
  { retired: ['afterwards', '=later'], use: '"deferredSends" or "defer"' },
  { retired: ['news'], use: '"events"' },
  {
    retired: ['desk', 'desks', '~parts', 'manner', 'manners', 'setting'],
    use: '"…Dependencies", "…Options", "…State" or "…Fixture"',
  },
  {
    retired: ['petition', 'petitions', 'seeker', 'seekers'],
    use: '"EvictionCandidate" or "Waiter"',
  },
  { retired: ['node-places', 'node-line'], use: '"nodePriority"' },
  { retired: ['standing', 'standings'], use: '"phase", "…Status" or "blocker"' },
  {
    retired: ['sight', 'sights', 'sighted', 'sighting', 'sightings', 'said'],
    use: '"observed" or "reported"',
  },
  {
    retired: ['told', 'tell', 'tells', 'telling', 'say', 'says', 'saying', 'complain', 'complaint'],
    use: '"record…", "log…", "print…" or "send…"',
  },
  { retired: ['hear', 'hears', 'heard'], use: '"on…", "received" or "subscribe"' },
  { retired: ['shown'], use: '"current"' },
  { retired: ['owed', 'owes'], use: '"pendingWrite"' },
  {
    retired: ['revision', 'revisions'],
    use: '"resourceVersion"',
    // Of the repository; of the store of a cluster, which counts as etcd does; of a StatefulSet.
    allowed: [
      'packages/embedded-kubernetes/',
      'src/cli/charts',
      'test/bench/cluster.ts',
      'test/support/interceptors/',
      'test/support/node-maintenance/listed-cluster.ts',
      'test/models/cluster/list-watch-harness.ts',
      'test/simulation/',
      'test/unit/cli/charts',
      'tools/testbed/',
    ],
  },
  // Actions of statecharts; the packages have none.
  { retired: ['take~', 'note~'], use: '"set…" or "add…"', allowed: ['packages/'] },
  { retired: ['renounce', 'renounces', 'abandon', 'abandons'], use: '"onLeadershipLost"' },
  { retired: ['orient', 'orienting'], use: '"deciding"' },
  {
    retired: ['judge', 'judges', 'judged', 'judging'],
    use: '"outcomeOf…", "parse…", "validate…" or "evaluating"',
  },
  { retired: ['=lead'], use: '"setLeading", "onLeading" or "onLeadershipLost"' },
  {
    retired: ['bystander', 'bystanders', 'inheritor', 'inheritors', 'leavers', 'stubborn'],
    use: '"podsWithoutDemand", "slotHolders", "leavingPods" or "returning"',
  },
  {
    retired: ['outrun', 'faltering', 'ample', 'led-elsewhere'],
    use: '"awaitingUpdate", "renewalFailed", "beforeLastQuarter" or "decisionChanged"',
  },
  { retired: ['reborn', 'farewell', 'hurry'], use: '"isNew", "isLastStatus" or "bringForward"' },
  { retired: ['series-book'], use: '"…Index"' },
  { retired: ['onlooker', 'onlookers', 'inspected'], use: '"inspector"' },
  { retired: ['foresight'], use: '"drainPreview"' },
  {
    retired: ['cordon-mark', 'reclaim-mark', 'drain-mark', 'mark-of', 'marking'],
    use: '"CordonAnnotation"',
  },
  { retired: ['course', 'tally', 'tallies'], use: '"DrainState" or "…Counts"' },
  { retired: ['eviction-permit'], use: '"evictionCircuit"' },
  { retired: ['fitness', 'unfit'], use: '"preflight" and "unsupported"' },
  {
    retired: ['misread', 'hole', 'holes', 'foreign'],
    use: '"malformed", "replayGap" or "unrecognized"',
  },
  { retired: ['trouble-log', 'sparing'], use: '"warningAggregator" or "sampledLogger"' },
  {
    retired: ['departures', 'first-requests', 'lost-reclaims'],
    use: '"gcGrace", "demandSync" or "reclaimRecovery"',
  },
  { retired: ['reclaim-order', 'reclaim-ordered'], use: '"ReclaimInstruction"' },
  { retired: ['happening', 'happenings'], use: '"TimelineEntry"' },
  {
    retired: [
      ...['players', 'cast', 'pace', 'upkeep', 'node-life', '=start-garbage'],
      ...['/garbage', 'event-ends', 'namespace-ends'],
    ],
    use: '"controllers", "harness" or "timing"',
  },
  {
    retired: ['stage', 'stages'],
    use: '"controllers", "harness" or "timing"',
    allowed: [
      // KWOK's simulated lifecycles, and the phases of audit events.
      ...['tools/testbed/', 'test/unit/testbed/'],
      // A field of NodeMaintenance.
      ...['src/domain/node-maintenance/', 'src/api/node-maintenance'],
      ...['src/machines/node-maintenance', 'src/actors/node-maintenance/'],
      ...[
        'src/effects/node-maintenance',
        'src/effects/maintenance',
        'src/view/maintenance',
        'src/cli/demo/demo-maintenance',
      ],
      ...['src/cli/maintenance', 'test/unit/cli/maintenance', 'test/unit/cli/program'],
      ...['test/unit/cli/output-without-reader', 'test/unit/cli/drain-nodes'],
      'test/unit/effects/maintenance',
      ...['test/integration/maintenance', 'test/integration/crossed-maintenances'],
      'test/unit/interceptor/daemon-set',
      'tools/cli-maintenance',
      ...['test/unit/domain/node-maintenance/', 'test/support/node-maintenance/'],
      'test/support/monitoring/',
      ...[
        'test/unit/actors/node-maintenance',
        'test/unit/actors/maintained-drains',
        'test/models/node-maintenance',
      ],
      'test/models/harness/maintenance-window',
      ...['test/integration/node-maintenance', 'test/e2e/node-maintenance'],
      ...['test/e2e/drain-maintained', 'src/view/explain-maintenance'],
      ...['test/unit/view/explain-maintenance', 'test/unit/view/maintained-drains'],
      ...['test/models/cluster/node-maintenance', 'test/unit/effects/node-maintenance'],
      ...['test/simulation/node-maintenance', 'test/simulation/scenarios/node-maintenance'],
    ],
  },
  {
    retired: ['/answers', '/problems', 'shelf', 'ledger', 'stock'],
    use: '"http", "validation", "NamespaceStore", "Allocations" or "Inventory"',
  },
  {
    retired: ['carried', 'warped', 'police'],
    use: '"inProcess…", "scaledTime" or "keepaliveEnforcement"',
  },
  {
    retired: ['law', 'laws', 'story', 'stories', 'ways', 'played', 'theatre', 'scenery'],
    use: '"invariants", "transcripts", "paths", "executed", "harness" or "fixtures"',
  },
  { retired: ['evictions-layer'], use: '"PodEvictionApi"' },
];
